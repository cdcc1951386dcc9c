"""Figures for print: fonts that publishers take, letters that can be read, nothing cut off or overlapping."""

import re
import zlib
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from capacity import load_curves, stability_region
from fairness import ModelError, Problem, savefig
from fairness.display.printing.font_sizes import smallest_letter
from fairness.display.printing.labels import break_lines
from fairness.display.printing.saving import _FINE as FINE
from fairness.display.printing.saving import SIZES, drawn_file, printed
from queueing import System
from tests.test_results import MAKERS, made

plt.switch_backend("Agg")

LETTER = 6.0
"""Points below which no letter may be."""

ACM = 3.3368 / 3.5
"""By how much a column of ACM, of 241.14749 points of TeX, shrinks one of IEEE."""


def letters(pdf):
    """Points of every text that the streams of a PDF draw: "/F1 9 Tf" selects a font of 9 points."""
    found = []
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            # Its last byte may look like an end of line and be missing: that of a checksum.
            drawn = zlib.decompressobj().decompress(packed)
        except zlib.error:
            continue
        found += [float(size) for size in re.findall(rb"/F\d+\S* ([\d.]+) Tf", drawn)]
    return found


def fonts(pdf):
    return set(re.findall(rb"/Subtype /(Type\d|CIDFontType\d|TrueType)\b", pdf))


def three_panels():
    figure = Figure(figsize=(15, 4.4), layout="constrained")
    figure.suptitle("everything")
    for k, ax in enumerate(figure.subplots(1, 3, sharey=True)):
        ax.loglog([1, 1e2], [1, 1e-2], label="a curve with quite some words about what it shows")
        ax.plot([1, 1e2], [1, 1e-1], label=r"mean of $x_{i_j}^2$")
        ax.set(title=f"a title that is longer than one column of a paper is wide, panel {k}", xlabel="jobs")
        ax.legend(fontsize="x-small")
    figure.axes[0].set_ylabel("probability")
    return figure


@pytest.mark.long
def test_a_figure_takes_its_size():
    figure = Figure(figsize=(9, 4), layout="constrained")
    for ax in figure.subplots(1, 2):
        ax.bar(["a job class", "another long name of a job class", "the third one"], [1, 2, 3])
        ax.set(title="one of the two panels of a figure that is too wide for a column", ylabel="$x_{i_j}$")
    before = figure.get_size_inches().tolist(), figure.axes[0].title.get_fontsize()
    fitted = printed(figure, "column")
    assert fitted.get_size_inches().tolist() == pytest.approx([3.5, 2 * 3.5 * 4 / 4.5])
    assert len({round(ax.get_position().x0, 3) for ax in fitted.axes}) == 1
    for ax in fitted.axes:
        assert ax.title.get_fontsize() == pytest.approx(0.9 * 12)
        assert "\n" in ax.get_title()
        assert ax.yaxis.label.get_fontsize() == pytest.approx(6.3 / 0.49)
        assert not run_together(ax)
        assert ax.get_xticklabels()[0].get_rotation() > 0
    assert not list(outside(fitted))
    untitled = printed(figure, titles=False)
    assert [ax.get_title() for ax in untitled.axes] == ["", ""]
    untitled.axes[1].set_title("A")
    assert [ax.get_title() for ax in printed(untitled, titles=False).axes] == [
        "",
        "A",
    ]  # they tell panels apart
    assert (figure.get_size_inches().tolist(), figure.axes[0].title.get_fontsize()) == before


@pytest.mark.long
def test_a_wide_figure_becomes_a_column(tmp_path):
    figure = three_panels()
    savefig(figure.axes[1], tmp_path / "f.pdf", size="column")
    pdf = (tmp_path / "f.pdf").read_bytes()
    width, height = map(float, re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf).groups())
    assert width == pytest.approx(72 * 3.5, abs=0.01)
    assert height > width
    assert fonts(pdf) == {b"Type0", b"CIDFontType2"}
    # x-small text, and the index of an index, which is 0.49 of it.
    assert LETTER <= ACM * min(letters(pdf)) < 1.2 * LETTER
    # The figure is as it was, and the same figure is the same file.
    assert drawn_file(figure, "svg") == drawn_file(three_panels(), "svg")
    column = printed(three_panels(), "column")
    assert drawn_file(column, "pdf", FINE) == pdf
    assert all("\n" in ax.get_title() for ax in column.axes)
    # Below each other each has the label that the first had for all.
    assert [ax.get_ylabel() for ax in column.axes] == ["probability"] * 3
    assert len({round(ax.get_position().x0, 3) for ax in column.axes}) == 1


def test_a_word_that_is_too_long_is_broken():
    figure = Figure(figsize=(2, 2), layout="constrained")
    name = r"interactive_analytics_of\$the\$warehouse_" * 2
    figure.subplots().set_title(name)
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    assert break_lines(figure)
    title = figure.axes[0].get_title()
    assert title.replace("\n", "") == name
    assert "\\\n" not in title
    assert figure.axes[0].title.get_window_extent().width <= 1.1 * figure.axes[0].bbox.width


def test_the_smallest_letter_is_that_of_a_formula():
    assert smallest_letter(Text(text=r"costs \$ 3", fontsize=9)) == 9
    assert smallest_letter(Text(text="$a_{b_c}$", fontsize=10)) == pytest.approx(4.9)
    assert smallest_letter(Text(text="$a$ and\n$b^2$", fontsize=10)) == pytest.approx(7)
    assert smallest_letter(Text(text=" ")) == np.inf


def test_what_cannot_be_saved(tmp_path):
    figure = Figure()
    ax = figure.subplots()
    wrong = {
        "drawn must be axes or a figure": (3, "a.pdf", {}),
        r"path must end in one of .pdf, .png, .svg; got 'a.jpg'": (ax, "a.jpg", {}),
        "size must be one of column, page, slide; got 'poster'": (ax, "a.pdf", {"size": "poster"}),
        "cannot write .*no/such": (ax, "no/such/a.svg", {}),
    }
    for message, (drawn, name, options) in wrong.items():
        with pytest.raises(ModelError, match=message):
            savefig(drawn, tmp_path / name, **options)
    ax.xaxis.set_major_formatter(lambda value, place: f"{value} h")
    with pytest.raises(ModelError, match=r"holds what cannot be copied .* a name at the top of a module"):
        savefig(ax, tmp_path / "a.pdf", size="page")
    assert not list(tmp_path.iterdir())


def outside(figure):
    """Texts of which a part is beyond the edge of the figure, by more than two pixels."""
    figure.draw_without_rendering()
    box = figure.bbox.padded(2)
    unseen = set().union(*map(beyond_the_range, figure.axes))
    for text in set(figure.findobj(Text)) - unseen:
        part = text.get_window_extent()
        # Names in space know their place on paper only while they are drawn.
        shown = (
            text.get_visible()
            and not hasattr(text, "get_position_3d")
            and text.get_text().strip()
            and part.width
        )
        within = box.x0 <= part.x0 and box.y0 <= part.y0 and part.x1 <= box.x1 and part.y1 <= box.y1
        if shown and not within:
            yield text.get_text(), part.extents.round(), box.extents


def beyond_the_range(ax):
    """Numbers that stand beside the range of their axis, and are not drawn."""
    found = set()
    for name in ("xaxis", "yaxis", "zaxis"):
        if (axis := getattr(ax, name, None)) is not None:
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            found |= {
                text for tick in ticks if not low <= tick.get_loc() <= high for text in tick.findobj(Text)
            }
    return found


def run_together(ax):
    """Names below an axis that overlap: level ones by their boxes, turned ones by their distance."""
    low, high = sorted(ax.get_xlim())
    texts = [text for text in ax.get_xticklabels(which="both") if text.get_text().strip()]
    texts = [text for text in texts if low <= text.get_position()[0] <= high]
    boxes = sorted((text.get_window_extent() for text in texts), key=lambda box: box.x0)
    if texts and texts[0].get_rotation() == 0:
        return any(a.x1 > b.x0 for a, b in pairwise(boxes))
    ends = np.sort([box.x1 for box in boxes])
    return bool((np.diff(ends) < 5).any())


def in_space():
    pool = Problem(np.eye(3) * 2 + 1, [9, 18, 7], job_classes=["batch jobs", "interactive", "training runs"])
    return stability_region(pool).plot().get_figure(root=True)


def labelled():
    figure = Figure(figsize=(14.8, 4.4), layout="constrained")
    for ax in figure.subplots(1, 3):
        for k in range(5):
            ax.plot([0, 1], [k, 1], label=f"policy number {k}")
            ax.annotate(f"policy {k}", (1, 1), xytext=(10, 10 * k), textcoords="offset points")
        ax.set(xlabel="load of the busiest resource", ylabel="mean service rate (tasks per active job)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


WIDE = ("three classes", "labels beside panels", "AuditTable", "LoadCurves", "Replay", "StabilityRegion")
"""Figures that are tried in all sizes; the others only in the smallest."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "size"),
    [(name, size) for name in sorted({*MAKERS, *WIDE}) for size in (SIZES if name in WIDE else ["column"])],
)
def test_every_result_fits_print(name, size):
    own = {"three classes": in_space, "labels beside panels": labelled}
    figure = own[name]() if name in own else made(name).plot().get_figure(root=True)
    fitted = printed(figure, size)
    pdf = drawn_file(fitted, "pdf")
    plt.close(figure)
    assert fitted.get_size_inches()[0] == SIZES[size].width
    assert b"Type3" not in pdf
    assert ACM * min(letters(pdf)) >= LETTER * 0.999
    assert list(outside(fitted)) == []
    for ax in fitted.axes:
        panel = ax.get_window_extent()
        assert panel.height > 0.5 * fitted.dpi
        assert ax.get_label() == "<colorbar>" or panel.width > 0.5 * fitted.dpi
    assert not any(run_together(ax) for ax in fitted.axes if not hasattr(ax, "zaxis"))


@pytest.mark.long
def test_means_against_the_load_in_print():
    # Methods without states, and one of them simulated: what stands in the legend.
    pool = Problem([[2, 2, 0], [1, 16, 0], [2, 8, 1]], [32, 128, 4], job_classes=["web", "ram", "gpu"])
    curves = load_curves(System(pool, [4, 4, 2]), ["balanced", "bound"], [0.3, 0.6])
    drawn = curves.figure()
    texts = [text.get_text() for ax in drawn.axes for text in ax.texts]
    assert texts == ["balanced fairness", "bound"] * 3
    for size, (rows, columns) in {"page": (1, 3), "slide": (1, 3), "column": (3, 1)}.items():
        fitted = printed(drawn, size)
        assert not list(outside(fitted)), size
        boxes = [ax.get_position() for ax in fitted.axes]
        assert len({round(box.y0, 3) for box in boxes}) == rows, size
        assert len({round(box.x0, 3) for box in boxes}) == columns, size
        # Curves have more than half of the width, as the legend tells what names would say again.
        assert columns * min(box.width for box in boxes) > 0.6, size
        assert not any(ax.texts for ax in fitted.axes)
        (legend,) = fitted.legends
        assert not legend.get_frame_on()
        assert fitted.get_supxlabel() == "load of the busiest resource"
        assert " ".join(fitted.get_supylabel().split()) == "mean service rate (tasks per active job)"
    # Names that no legend tells stay.
    assert len(printed(curves.plot().figure, "column").axes[0].texts) == 2

"""What the documentation draws and writes when it is built: formulas, and the pages of the gallery."""

import importlib
import json
import os
import shutil

import pytest

from tests.fairqueues.commands.command_line import ROOT

EXTENSIONS = ROOT / "docs" / "_ext"


@pytest.fixture
def mathml(monkeypatch):
    """Of the tools for the pages, which `make lint` installs, not `make test`."""
    pytest.importorskip("latex2mathml")
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    return importlib.import_module("mathml").mathml


@pytest.mark.parametrize(
    ("latex", "written"),
    [
        (r"\left(\sum_{k \ne j} x_k\right)", '<munder><mo movablelimits="true">∑</mo>'),
        (r"\left(\sum_{k=1}^{n} x_k\right)", '<munderover><mo movablelimits="true">∑</mo>'),
        (r"\max_i x_i", 'lspace="0.167em" rspace="0.167em">max</mo><mi>i</mi></munder>'),
        (r"|g| \le k", '<mo stretchy="false" lspace="0" rspace="0">|</mo><mi>g</mi>'),
        (r"N \to \infty", "<mi>∞</mi>"),
        (r"w \log x", '<mo lspace="0.167em" rspace="0.167em">log</mo>'),
        (r"a \perp b", "<mo>⊥</mo>"),
        (r"x_i", "<msub><mi>x</mi><mi>i</mi></msub>"),
        (r"a < b", "<mo>&lt;</mo>"),
        (r"\Big\{x\Big\}", '<mo minsize="1.623em" maxsize="1.623em">{</mo>'),
        (r"\Bigl\{x\Bigr\}", 'maxsize="1.623em">}</mo>'),
        ("a,\\\nb", "<mtext>\N{NO-BREAK SPACE}</mtext><mi>b</mi>"),
        ("\\begin{aligned}a &= b,\\\\\n c &= d\\end{aligned}", "<mi>c</mi>"),
    ],
)
def test_formulas_are_set_as_latex_sets_them(mathml, latex, written):
    made = mathml(latex, "block", None)
    assert written in made
    assert "\\" not in made


@pytest.mark.parametrize("shown", [r"\unheard", r"\{", "\\"])
def test_a_backslash_that_would_be_printed_is_a_warning(mathml, monkeypatch, shown):
    module, warned = importlib.import_module("mathml"), []
    monkeypatch.setattr(module, "convert", lambda latex, display: f"<math><mtext>{latex}</mtext></math>")
    monkeypatch.setattr(module.logger, "warning", lambda text, *told, location: warned.append(told[-1]))
    mathml(shown, "block", None)
    assert warned == [shown]


def test_a_stop_stays_beside_its_formula(mathml):
    nodes = pytest.importorskip("docutils.nodes")
    text = nodes.paragraph()
    text += [
        nodes.Text("see ("),
        nodes.math("", "x"),
        nodes.Text("), "),
        nodes.math("", "y"),
        nodes.Text(" too"),
    ]
    importlib.import_module("mathml").joined(None, text, "page")
    assert text.astext() == "see (x), y too"
    assert [part.astext() for part in text.findall(nodes.inline)] == ["(x),"]


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    return importlib.import_module("figures")


def known(figures):
    """The sources of the gallery, by name."""
    sources = importlib.import_module("examples.__main__").SOURCES
    return {source.stem: source for source in sources if source.stem != "statements"}


@pytest.mark.long
def test_every_script_of_the_gallery_is_listed_and_says_what_it_shows(figures):
    assert sorted(figures.ORDER) == sorted(path.stem for path in figures.SCRIPTS.glob("*.py"))
    for name in figures.ORDER:
        title, see = figures.told(figures.SCRIPTS / f"{name}.py")
        assert title
        assert see.endswith(".")


@pytest.mark.long
def test_every_figure_of_a_source_has_a_script_for_ones_own_system(figures):
    pytest.importorskip("sphinx")
    gallery = importlib.import_module("gallery")
    places = {
        f"{stem}/{figures.name_of(page)}" for stem, source in known(figures).items() for page in source.pages
    }
    assert len(places) == sum(len(source.pages) for source in known(figures).values())
    assert {gallery._script_for(place) for place in places} <= set(figures.ORDER)
    assert set(gallery.FOR_YOURS) <= places | {place.split("/")[0] for place in places}
    for source in known(figures).values():
        assert set(source.quick) <= set(source.pages)
        assert not set(source.quick) & set(source.slow)


@pytest.mark.long
def test_figures_are_taken_only_if_the_same_sources_drew_all_of_them(figures, tmp_path):
    source = known(figures)["tdrf"]
    keys = [f"page{k}" for k in range(len(source.pages))]

    def write(**changed):
        record = {
            "command": source.call,
            "sources": "today",
            "figures": {key: {"title": key} for key in keys},
        }
        (tmp_path / "tdrf.json").write_text(json.dumps(record | changed))

    assert figures.figures_of(tmp_path, source, "today") is None
    write()
    found = figures.figures_of(tmp_path, source, "today")
    assert found["four_users"] == ("page2", {"title": "page2"})
    write(command=f"{source.call} --full")
    assert figures.figures_of(tmp_path, source, "today") == found
    for changed in (
        {"sources": "yesterday"},
        {"command": "python -m examples.tdrf --of mine"},
        {"figures": {"page0": {}}},
    ):
        write(**changed)
        assert figures.figures_of(tmp_path, source, "today") is None


@pytest.mark.long
def test_scripts_are_drawn_again_when_one_of_them_changes(figures, tmp_path, monkeypatch):
    """Whenever it was written, and when their order is another: figures are known by their places in it."""
    for name in figures.ORDER:
        shutil.copy(figures.SCRIPTS / f"{name}.py", tmp_path)
    monkeypatch.setattr(figures, "SCRIPTS", tmp_path)
    first = figures.own_stamp("library")
    assert figures.own_stamp("library") == first != figures.own_stamp("changed")
    script = tmp_path / "region.py"
    script.write_text(script.read_text() + "# changed")
    os.utime(script, (0, 0))
    second = figures.own_stamp("library")
    monkeypatch.setattr(figures, "ORDER", (*figures.ORDER[2:], *figures.ORDER[:2]))
    assert len({first, second, figures.own_stamp("library")}) == 3


@pytest.mark.long
def test_sources_that_change_while_they_are_drawn_are_told(figures, tmp_path, monkeypatch):
    """Nobody knows which of them drew a figure: it is not one of today."""
    stamps = iter(["before"])
    monkeypatch.setattr(figures, "stamp", lambda: next(stamps, "after"))
    monkeypatch.setattr(figures, "GENERATED", tmp_path)
    monkeypatch.setattr(figures, "draw", lambda lacking, today: None)
    with pytest.raises(RuntimeError, match="changed while they were drawn; build the pages again"):
        figures.entries()


@pytest.mark.long
def test_a_page_of_a_figure_compares_and_shows_its_code(figures):
    pytest.importorskip("sphinx")
    gallery = importlib.import_module("gallery")
    source = known(figures)["tdrf"]
    check = {"statement": "a|b", "expected": "1", "ours": "2", "verdict": "refuted", "remark": "why"}
    table = {"caption": "T", "header": ["x"], "rows": [["two\nlines"]]}
    record = {
        "title": "1. T",
        "place": "Figure *1*",
        "see": "See `tail_mass` of a_b",
        "pictured": True,
        "checks": [check],
        "tables": [table],
        "listings": {"L": "\\frac{a}{b}\n& c"},
    }
    drawn = figures.entry(source, source.pages[0], {"exchange_rule": ("key", record)})
    text = gallery.source_page(source, drawn)
    assert "```{image} key.svg" in text
    assert "See `tail_mass` of a\\_b" in text
    assert "*Figure \\*1\\**" in text
    assert "| a\\|b | 1 | 2 | refuted: why |" in text
    assert "| two<br>lines |" in text
    assert "*L*\n\n```latex\n\\frac{a}{b}\n& c\n```\n" in text
    assert ":pyobject: exchange_rule" in text
    assert "literalinclude} ../../../gallery/join_times.py" in text
    waiting = gallery.source_page(source, figures.entry(source, source.pages[0], {}))
    assert "`make reproduce` draws it" in waiting
    assert ":pyobject: exchange_rule" in waiting
    assert "{image}" not in waiting

"""Tables in LaTeX: every sign of a name is printed, numbers keep what is known of them."""

import shutil
import string
import subprocess
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from fairness import ModelError, to_latex
from fairness.display.latex import escaped
from tests.latex import assert_plain

ALL = string.punctuation + "äé×≤✓∞αλΛΑοςάΌϊąÐ"


def test_every_sign_is_text():
    names = [
        ALL,
        "[a]",
        "*",
        r"\\input{secret}",
        "a -- b --- c",
        "tab\there\n",
        "\x07",
        "$x^2$",
        "% gone",
    ]
    frame = pd.DataFrame({name: names for name in names if name.strip()}, index=pd.Index(names, name="a_b#"))
    rows = assert_plain(to_latex(frame))
    assert len(rows) == len(names) + 1
    assert len({tuple(row) for row in rows}) == len(rows)
    for row in rows[1:]:
        assert set(row[1:]) == {row[0].removeprefix("{}")}
    assert escaped("Αχί e\u0301 ę") == r"A$\chi$$\acute \iota$ é {\fontencoding{T1}\selectfont ę}"
    assert escaped("--- ----") == "-{}-{}- -{}-{}-{}-"


def test_a_table_that_forgets_a_sign_is_seen():
    """The tokenizer itself refuses what LaTeX would read."""
    table = to_latex(pd.DataFrame({"x": ["name"]}))
    for sign in (
        "&",
        "%",
        "$",
        "#",
        "_",
        "{",
        "}",
        "~",
        "^",
        "\\",
        "<",
        "\\\\ ",
        "\\input{a}",
        "[x] \\\\",
        "\n",
    ):
        with pytest.raises(AssertionError):
            assert_plain(table.replace("name", f"na{sign}me"))


def test_numbers_of_a_column_have_the_same_decimals():
    frame = pd.DataFrame(
        {
            "f": [3.0, 45 / 11, -0.5, np.nan],
            "tiny": [1.5e-9, -2e-12, 0.0, np.inf],
            "whole": [1, 20, -3, 10**20],
            "exact": [Fraction(1, 3), Fraction(-2), Fraction(5, 7), Fraction(1)],
            "said": [True, False, True, None],
            "none": [""] * 4,
        }
    )
    head, *rows = assert_plain(to_latex(frame, digits=5))
    assert head == ["f", "tiny", "whole", "exact", "said"]
    f, tiny, whole, exact, said = zip(*rows, strict=True)
    assert f == ("3.0000", "4.0909", "$-0.5000$", "--")
    assert tiny == (r"$1.5\times 10^{-9}$", r"$-2\times 10^{-12}$", "0", r"$\infty$")
    assert whole == ("1", "20", "$-3$", "1" + "0" * 20)
    assert exact == ("1/3", "$-2$", "5/7", "1")
    assert said == ("yes", "no", "yes", "--")


def test_half_widths_stand_behind_their_values():
    frame = pd.DataFrame(
        {
            "m": [0.33253, 1234.5, 2.0, np.nan],
            "m_half_width": [0.0581, 67.9, np.inf, np.nan],
            "n": [1, 2, 3, 4],
        }
    )
    text = to_latex(frame)
    assert text.startswith(r"\begin{tabular}{r@{${}\pm{}$}lr}")
    head, *rows = assert_plain(text)
    assert head == ["m", "n"]
    assert [row[:-1] for row in rows] == [["0.333", "0.059"], ["1234", "68"], ["2", r"$\infty$"], ["--"]]


def test_columns_are_chosen_with_their_half_widths():
    frame = pd.DataFrame({"jobs": [1.5], "seen": [3], "jobs_half_width": [0.25]})
    assert r"seen & \multicolumn{2}{c}{jobs}" in to_latex(frame, columns=["seen", "jobs"])
    assert "seen" not in to_latex(frame, columns=["jobs"])
    with pytest.raises(ModelError, match="columns: there is none 'job', but jobs, seen, jobs_half_width"):
        to_latex(frame, columns=["job"])
    with pytest.raises(ModelError, match=r"must be a list of names, such as \['jobs'\]"):
        to_latex(frame, columns="jobs")


@pytest.mark.parametrize("names", [("lower", "upper"), ("jobs_lower", "jobs_upper")])
def test_bounds_are_rounded_outward(names):
    lower, upper = [0.335958123, -1.0], [0.336109987, np.inf]
    rows = assert_plain(to_latex(pd.DataFrame(dict(zip(names, (lower, upper), strict=True)))))[1:]
    for low, high, (left, right) in zip(lower[:1], upper[:1], rows, strict=False):
        assert Fraction(left) <= Fraction(low) < Fraction(high) <= Fraction(right)
        assert float(right) - float(left) < 2 * (high - low)
    assert rows[1] == ["$-1$", r"$\infty$"]


def test_keys_are_not_repeated():
    index = pd.MultiIndex.from_product([["drf", "pf"], ["A", "B"]], names=["policy", "job_class"])
    rows = assert_plain(to_latex(pd.DataFrame({"tasks": [1.0, 2.0, 3.0, 4.0]}, index=index), booktabs=True))
    assert [row[0] for row in rows] == ["policy", "drf", "", "pf", ""]
    assert [row[1] for row in rows] == ["job class", "A", "B", "A", "B"]
    dataset = pd.DataFrame({"tasks": [1.0, 2.0, 3.0, 4.0]}, index=index).to_xarray()
    assert [row[2] for row in assert_plain(to_latex(dataset))] == ["tasks", "1", "2", "3", "4"]


def test_what_is_no_table():
    with pytest.raises(ModelError, match=r"table must be a result, a table or a dataset; got int"):
        to_latex(3)
    for digits in (0, 18, 2.5, True):
        with pytest.raises(ModelError, match="digits must be a whole number from 1 to 17"):
            to_latex(pd.DataFrame({"a": [1]}), digits=digits)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here to compile with")
def test_plain_latex_compiles_it(tmp_path):
    frame = pd.DataFrame(
        {
            ALL: [ALL, "[a]", "* b"],
            "m": [1.0, 2.0, 3.0],
            "m_half_width": [0.1, np.inf, 0.0],
            "f": [1e-9, -1.0, np.nan],
        }
    )
    lines = [r"\documentclass{article}\begin{document}", to_latex(frame), r"\end{document}"]
    (tmp_path / "a.tex").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "a.tex"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout

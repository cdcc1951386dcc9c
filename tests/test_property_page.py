"""The page of a property table: what a short run leaves open."""

from dataclasses import replace

import pytest

from examples.property_page import property_page
from fairness import DRF, ProportionalFair
from fairness.properties import audit

GROUP, ALONE = "group strategy-proofness", "strategy-proofness"


@pytest.fixture(scope="module")
def table():
    return audit([DRF(), ProportionalFair()], [GROUP, ALONE, "EF"], budget=100, rng=0)


def marks(page):
    return {text.get_text() for text in page.figure.axes[0].texts}


def verdicts(page):
    return {check.statement: check.ours for check in page.checks}


def draw(table, decisive):
    printed = {"DRF": {"SP": False}}
    return property_page("k", "T", "P", "S", table, printed=printed, disputed={}, decisive=decisive)


def test_what_implies_an_unsettled_property_is_unsettled(table):
    """Group strategy-proofness has no tick beside a strategy-proofness that the source denies."""
    page = draw(table, decisive=False)
    assert {name for name, ours in verdicts(page).items() if "(short run)" in ours} == {
        f"DRF: {ALONE}",
        f"DRF: {GROUP}",
    }
    assert [text.get_text() for text in page.figure.axes[0].texts].count("?") == 2
    assert "?" in page.figure.axes[0].get_xlabel()


def test_a_decisive_run_leaves_nothing_open(table):
    page = draw(table, decisive=True)
    assert "?" not in marks(page)
    assert not [ours for ours in verdicts(page).values() if "(short run)" in ours]


@pytest.mark.parametrize(
    ("domain", "words"), [("positive", "all demands positive"), ("any", "demands may be zero")]
)
def test_the_picture_says_which_demands_were_searched(table, domain, words):
    other = replace(table, settings=table.settings | {"domain": domain})
    assert words in draw(other, decisive=True).figure.axes[0].get_title()

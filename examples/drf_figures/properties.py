"""The property tables of pool policies, generated."""

from __future__ import annotations

from examples.gallery import Page
from examples.property_page import property_page
from fairness import CATALOGUE
from fairness.properties import audit

__all__ = ["positive_demands", "zero_demands"]

PRINTED = {
    "Asset": {
        "SI": False,
        "SP": True,
        "EF": True,
        "PE": True,
        "SRF": True,
        "BF": False,
        "PM": True,
        "RM": False,
    },
    "PF": {
        "SI": True,
        "SP": False,
        "EF": True,
        "PE": True,
        "SRF": True,
        "BF": True,
        "PM": False,
        "RM": False,
    },
    "DRF": {"SI": True, "SP": True, "EF": True, "PE": True, "SRF": True, "BF": True, "PM": True, "RM": False},
}
"""The summary's table; PF is CEEI. It prints how many policies have a property; the paper says which."""

BUDGET, SMALL = 2000, 300
"""Policy calls per cell; with this seed the small one finds every printed violation too."""


def positive_demands(*, full: bool) -> Page:
    """The table of the source, under its assumption that every user needs some of every resource."""
    return _page(
        "drf02_properties",
        "2. Eight properties and more, six policies",
        "The table of the summary and table 2 of the paper (CEEI is PF here); all demands positive.",
        "Every cell is a search for a counterexample: exhaustively over small integers, at random, then uphill; a violation is shrunk to a smallest witness "
        "(table below) and confirmed in fractions by code that shares nothing with the policies. A tick is no proof: it says how many models were asked.",
        "positive",
        full,
    )


def zero_demands(*, full: bool) -> Page:
    """The same table when users may do without a resource."""
    return _page(
        "drf05_zero_demands",
        "5. The same with zero demands",
        "Not in the paper: users who do without some resources.",
        "Zero demands cost max-min fairness, DRF and asset fairness their population monotonicity (the last panel of page 3 shows how), and max-min fairness its resource monotonicity.",
        "any",
        full,
    )


def _page(key: str, title: str, place: str, see: str, domain: str, full: bool) -> Page:
    table = audit(
        [entry.policy for entry in CATALOGUE],
        budget=BUDGET if full else SMALL,
        rng=0,
        domain=domain,
    )
    # The source speaks of positive demands only.
    printed = PRINTED if domain == "positive" else {}
    return property_page(key, title, place, see, table, printed=printed, disputed={})

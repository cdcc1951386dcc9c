"""The catalogue: every pool policy with the colour it has in all figures.

A new policy is one line here; the tests take their list from it. Colours are those of Okabe and Ito,
which colour-blind readers can tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from fairness.policies.asset import AssetFair
from fairness.policies.bottleneck import BottleneckMax
from fairness.policies.maxmin import DRF, MaxMin
from fairness.policies.proportional import AlphaFair, ProportionalFair
from fairness.policies.protocol import Policy, policy_name

__all__ = ["CATALOGUE", "Entry", "colour"]


@dataclass(frozen=True)
class Entry:
    """A policy, its colour, and the checks of the battery that it fails by nature.

    The battery is :func:`fairness.testing.check_policy`.
    """

    policy: Policy
    colour: str
    skip: frozenset[str] = frozenset()


CATALOGUE: tuple[Entry, ...] = (
    Entry(MaxMin(), "#999999", skip=frozenset({"task units"})),
    Entry(DRF(), "#D55E00"),
    Entry(ProportionalFair(), "#0072B2"),
    Entry(BottleneckMax(), "#009E73"),
    Entry(AlphaFair(2), "#CC79A7", skip=frozenset({"task units"})),
    Entry(AssetFair(), "#E69F00", skip=frozenset({"duplicated resource"})),
)

_COLOURS = {policy_name(entry.policy): entry.colour for entry in CATALOGUE}
_MODELS = {"balanced fairness": "#000000", "bound": "#56B4E9"}


def colour(name: str) -> str:
    """Colour of a policy, of "balanced fairness" or of "bound" in figures; dark grey for any other name."""
    return _COLOURS.get(name) or _MODELS.get(name, "#555555")

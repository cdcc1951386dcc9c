"""The catalogue: every policy with the colour it has in all figures, for pools and for clusters.

A new policy is one line here; the tests take their lists from it. Colours of pool policies are those of Okabe
and Ito, which colour-blind readers can tell apart; those of cluster policies, which have their own figures,
are Tol's muted ones, made for the same readers.
"""

from __future__ import annotations

from dataclasses import dataclass

from fairness.policies.asset import AssetFair
from fairness.policies.bottleneck import BottleneckMax
from fairness.policies.maxmin import DRF, MaxMin
from fairness.policies.proportional import AlphaFair, ProportionalFair
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRF, CDRFH, DRFH, TSF
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.policy import Policy, policy_name

__all__ = ["CATALOGUE", "CLUSTER_CATALOGUE", "Entry", "colour"]


@dataclass(frozen=True)
class Entry:
    """A policy, its colour, and the checks of the battery that it fails by nature.

    The battery is :func:`fairness.testing.check_policy`.
    """

    policy: Policy | ClusterPolicy
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

CLUSTER_CATALOGUE: tuple[Entry, ...] = (
    Entry(PSDSF(), "#332288"),
    Entry(PSDSF(division="time"), "#88CCEE", skip=frozenset({"one server"})),
    Entry(TSF(), "#117733"),
    Entry(TSF("dedicated"), "#44AA99"),
    Entry(CDRFH(), "#DDCC77"),
    Entry(DRFH(), "#CC6677"),
    Entry(CDRF(), "#882255"),
    Entry(PerServerDRF(), "#999999"),
)

_COLOURS = {policy_name(entry.policy): entry.colour for entry in (*CATALOGUE, *CLUSTER_CATALOGUE)}
_MODELS = {"balanced fairness": "#000000", "bound": "#56B4E9"}


def colour(name: str) -> str:
    """Colour of a policy, of "balanced fairness" or of "bound" in figures; dark grey for any other name."""
    return _COLOURS.get(name) or _MODELS.get(name, "#555555")

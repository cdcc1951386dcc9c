"""The catalogue: every policy, with its name in files and commands and its colour in all figures.

A new policy is one line here. From it come its name in scenario files and on the command line, with the
arguments of its class as parameters ("alpha:2"), its name on trees, its place in the explorer, among the
policies that an explanation compares, in figures, and in the tests, which take their lists from here. What is
known of it, bounds and definitions and notions, is told by its family (:mod:`fairness.protocol.family`).

Colours of pool policies are those of Okabe and Ito, those of cluster policies, which have their own figures,
Tol's muted ones, with other greys: how far apart they lie for colour-blind readers, and from the colours of
classes, resources and other parts of a model, is said in :mod:`fairness.display.colours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import cycle
from typing import Any

__all__ = ["CATALOGUE", "CLUSTER_CATALOGUE", "FURTHER", "Entry", "colour", "coloured"]


@dataclass(frozen=True)
class Entry:
    """A policy: where it is, and what it is called.

    The policy is made when it is asked for, so that a name or a colour costs no solver. The battery is
    :func:`fairness.testing.check_policy`.

    Attributes
    ----------
    name : str
        That of the policy, in figures.
    place : str
        Module and class: "fairness.policies.maxmin:DRF".
    colour : str
    word : str
        Its name in files and commands, lower case with hyphens; "" if another line has it.
    about : str
        One line for help texts.
    skip : frozenset of str
        Checks of the battery that it fails by nature.
    arguments : tuple
        Those of the class.
    on_tree : str
        Its name in files and commands on a tree of queues; "" if it is not offered there.
    """

    name: str
    place: str
    colour: str
    word: str = ""
    about: str = ""
    skip: frozenset[str] = frozenset()
    arguments: tuple[Any, ...] = ()
    on_tree: str = ""

    @cached_property
    def policy(self) -> Any:
        """The policy: a :class:`~fairness.protocol.policy.Policy` or a cluster policy."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)(*self.arguments)


_POOL, _SERVERS = "fairness.policies", "fairness.policies.servers"

# fmt: off
CATALOGUE: tuple[Entry, ...] = (
    Entry("MMF", f"{_POOL}.maxmin:MaxMin", "#707070", "maxmin", "max-min fairness of tasks",
          frozenset({"task units"}), on_tree="h-mmf"),
    Entry("DRF", f"{_POOL}.maxmin:DRF", "#D55E00", "drf", "dominant resource fairness", on_tree="h-drf"),
    Entry("PF", f"{_POOL}.proportional:ProportionalFair", "#0072B2", "pf",
          "proportional fairness, the competitive equilibrium (CEEI)", on_tree="h-pf"),
    Entry("BMF", f"{_POOL}.bottleneck:BottleneckMax", "#009E73", "bmf", "bottleneck-max fairness",
          on_tree="h-bmf"),
    Entry("alpha=2", f"{_POOL}.proportional:AlphaFair", "#CC79A7", "alpha", "alpha-fairness, alpha:2",
          frozenset({"task units"}), (2,)),
    Entry("Asset", f"{_POOL}.asset:AssetFair", "#E69F00", "asset", "asset fairness",
          frozenset({"duplicated resource"}), on_tree="h-asset"),
)
"""Policies of a pool."""

CLUSTER_CATALOGUE: tuple[Entry, ...] = (
    Entry("PS-DSF rdm", f"{_SERVERS}.psdsf:PSDSF", "#332288", "psdsf",
          "per-server dominant share, psdsf:time", on_tree="h-psdsf"),
    Entry("PS-DSF tdm", f"{_SERVERS}.psdsf:PSDSF", "#88CCEE", skip=frozenset({"one server"}),
          arguments=("time",)),
    Entry("TSF", f"{_SERVERS}.task_share:TSF", "#117733", "tsf", "task share fairness, tsf:dedicated",
          on_tree="h-tsf"),
    Entry("TSF dedicated", f"{_SERVERS}.task_share:TSF", "#44AA99", arguments=("dedicated",)),
    Entry("C-DRFH", f"{_SERVERS}.task_share:CDRFH", "#DDCC77", "cdrfh", "constrained DRFH",
          on_tree="h-cdrfh"),
    Entry("DRFH", f"{_SERVERS}.task_share:DRFH", "#CC6677", "drfh", "DRF in heterogeneous clusters",
          on_tree="h-drfh"),
    Entry("CDRF", f"{_SERVERS}.task_share:CDRF", "#882255", "cdrf", "containerised DRF"),
    Entry("DRF per server", f"{_SERVERS}.per_server:PerServerDRF", "#222222", "per-server-drf",
          "DRF on each server by itself"),
)
"""Policies of a cluster."""

FURTHER: tuple[Entry, ...] = (
    Entry("TDRF", "fairness.timed.tdrf:TDRF", "", "tdrf", "DRF with join times, tdrf:3,8 or a table"),
)
"""Policies of a pool that must be told something of each class before they can be asked: no list has them."""
# fmt: on

_MODELS = {"balanced fairness": "#000000", "bound": "#56B4E9", "H-DRF": "#780000"}


def colour(name: str) -> str:
    """Colour of a policy, of "balanced fairness" or of "bound" in figures; dark grey for any other name."""
    colours = {entry.name: entry.colour for entry in (*CATALOGUE, *CLUSTER_CATALOGUE)}
    return colours.get(name) or _MODELS.get(name, "#404040")


_SPARE = ("#CC0000", "#1144BB", "#557755", "#7777FF", "#88BB77", "#442244", "#CCEE00")


def coloured(names: Sequence[str]) -> dict[str, str]:
    """Colour of each policy or model; those without one of their own get spare ones that no other has.

    Examples
    --------
    >>> coloured(["DRF", "mine", "balanced fairness"])
    {'DRF': '#D55E00', 'mine': '#CC0000', 'balanced fairness': '#000000'}
    """
    unknown = colour("")
    spare = cycle(_SPARE)
    return {name: next(spare) if colour(name) == unknown else colour(name) for name in names}

r"""What the explorer shows: a model, the jobs present, the traffic and a starting point, as one value.

A state holds a pool without limits or a cluster, counts :math:`x_i`, a traffic mix and a relative load
:math:`\varrho` of the busiest resource, so that the class loads are :math:`\rho = t\cdot\text{mix}` with
:math:`\max_j \sum_i\rho_ia_{ij}/C_j = \varrho` (of a cluster it is that of all servers); mean sizes are 1.
It becomes a link (:mod:`fairqueues.explorer.links`) and comes back from it
unchanged (floats are written in the shortest form that reads back as the same number, as 1/3 where that is
shorter), and it becomes a scenario file. Policies are known by name: those of the catalogue, and those of the
scenario that the explorer was started with.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fairness.arguments.plain import near
from fairness.catalogue import CATALOGUE, CLUSTER_CATALOGUE
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.protocol.policy import Policy, policy_name
from fairqueues.explorer.fields import (
    ALL_CLASSES,
    DISTINCT,
    FieldErrors,
    field_texts,
    plain_numbers,
    read_numbers,
    require_sizes,
    tidy,
)
from fairqueues.explorer.left_out import left_out
from fairqueues.explorer.links import SECTION, link_of, read_link
from fairqueues.scenario.names import policy_spec
from fairqueues.scenario.queues import table_of_trees
from fairqueues.scenario.toml_text import toml
from queueing.model.system import System

__all__ = ["POLICIES", "SERVER_POLICIES", "SERVER_SHOWN", "SHOWN", "State", "nice_above"]

POLICIES: dict[str, Policy] = {e.name: e.policy for e in CATALOGUE}
"""Policies of the catalogue for pools, by the name that figures show."""

SERVER_POLICIES: dict[str, Any] = {e.name: e.policy for e in CLUSTER_CATALOGUE}
"""Those for clusters."""

SHOWN = ("DRF", "PF", "BMF")
"""Policies that are shown if nothing else is said."""

SERVER_SHOWN = ("PS-DSF rdm", "TSF", "C-DRFH")
"""The same of a cluster."""


Row = tuple[float, ...]


@dataclass(frozen=True)
class State:
    """All that the page shows.

    Attributes
    ----------
    demands : tuple of tuple of float, shape (n_classes, n_resources), resource units per task
    capacities : tuple of float, resource units
        Of the resources of a pool; of a cluster those of the first server, then of the second, ...
    weights : tuple of float, shape (n_classes,)
    counts : tuple of float, shape (n_classes,), jobs
    mix : tuple of float, shape (n_classes,)
        Class loads are proportional to it.
    load : float
        Relative load of the busiest resource, between 0 and 1.
    policy : str
        Of the drift field.
    start : tuple of float, shape (n_classes,), jobs
        Where the trajectory starts; two classes of one pool only, else empty.
    reach : float, jobs
        End of the axes of the drift field.
    job_classes, resources : tuple of str
    shown : tuple of str
        Policies in tables and figures, by name.
    rated : int
        Class whose service rates are drawn: its number from 1, or 0 for all.
    section : tuple of int
        The two classes whose loads the region shows, by their numbers from 1.
    servers : tuple of str
        Of a cluster; empty for a pool.
    eligible : tuple of float
        1 where a class may run, else 0: of the first class on each server, then of the second, ...
    offered : mapping of str to Policy
        All policies that can be shown, by name; not compared.
    origin : str
        Name of the scenario that it began with, "" if with none; not compared.
    left_out : tuple of str
        What that scenario says and the page leaves out, in sentences; not compared.

    Examples
    --------
    >>> state = State()
    >>> State.from_query(state.query()) == state
    True
    >>> state.system.relative_loads.max().round(12)
    np.float64(0.7)
    """

    demands: tuple[Row, ...] = ((1.0, 4.0), (3.0, 1.0))
    capacities: Row = (9.0, 18.0)
    weights: Row = (1.0, 1.0)
    counts: Row = (1.0, 1.0)
    mix: Row = (1.0, 1.0)
    load: float = 0.7
    policy: str = "DRF"
    start: Row = (8.0, 2.0)
    reach: float = 10.0
    job_classes: tuple[str, ...] = ("A", "B")
    resources: tuple[str, ...] = ("cpu", "ram")
    shown: tuple[str, ...] = SHOWN
    rated: int = 0
    section: tuple[int, int] = SECTION
    servers: tuple[str, ...] = ()
    eligible: Row = ()
    offered: Mapping[str, Any] = field(default_factory=lambda: POLICIES, compare=False, repr=False)
    origin: str = field(default="", compare=False)
    left_out: tuple[str, ...] = field(default=(), compare=False)

    @property
    def n_classes(self) -> int:
        """Number of job classes."""
        return len(self.demands)

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return len(self.resources)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of classes, resources and servers, 0 for a pool."""
        return self.n_classes, self.n_resources, len(self.servers)

    @property
    def drifts(self) -> bool:
        """Whether drift and trajectory are drawn."""
        return self.n_classes == 2 and not self.servers

    @property
    def alone(self) -> State:
        """The model and the mix; equal for states that differ in other things only."""
        same: dict[str, Any] = {"load": 0.5, "policy": "", "start": (), "reach": 1.0}
        return replace(self, **same, counts=(), shown=(), rated=0, section=SECTION)

    @cached_property
    def problem(self) -> Any:
        """The pool, or the cluster."""
        # Whole numbers as integers, so that the model is exact where it can be.
        demands: Any = [plain_numbers(row) for row in self.demands]
        capacities: Any = plain_numbers(self.capacities)
        names: Any = {"job_classes": self.job_classes, "resources": self.resources}
        if not self.servers:
            return Problem(demands, capacities, weights=self.weights, **names)
        eligible = None if all(self.eligible) else [[v > 0 for v in row] for row in self._by_class()]
        rows = _cut(capacities, self.n_resources)
        return Cluster(demands, rows, eligible=eligible, weights=self.weights, servers=self.servers, **names)

    def _by_class(self) -> list[Row]:
        """Where each class may run."""
        return _cut(self.eligible, len(self.servers))

    @cached_property
    def system(self) -> System:
        """The model under its traffic; mean sizes are 1."""
        return System.with_load(self.problem, self.mix, self.load)

    @property
    def policies(self) -> dict[str, Policy]:
        """The policies that are shown, by name."""
        return {name: self.offered[name] for name in self.shown}

    @property
    def texts(self) -> dict[str, str]:
        """Text of every field of the page, by its name."""
        return field_texts(vars(self), *self.sizes)

    @classmethod
    def from_texts(
        cls,
        texts: Mapping[str, str],
        policy: str | None,
        job_classes: Sequence[str],
        resources: Sequence[str],
        shown: Sequence[str] | None = None,
        rated: int = 0,
        offered: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> State:
        """State from the fields of the page.

        Parameters
        ----------
        texts : mapping of str to str
            Names as in :mod:`fairqueues.explorer.fields`.
        policy : str, optional
            A name that is offered; so are those of ``shown``.
        job_classes, resources : sequence of str
            They say how many there are.
        shown, rated, offered
            As the attributes; by default what the catalogue has for the model.
        **more
            The attributes section, servers, origin and left_out.

        Returns
        -------
        State

        Raises
        ------
        FieldErrors
            With one line for each wrong field, or for the whole ("form").
        """
        servers, section = tuple(more.pop("servers", ())), tuple(more.pop("section", SECTION))
        require_sizes(n := len(job_classes), m := len(resources), s := len(servers))
        known, usual = _catalogue(servers)
        offered, shown = known if offered is None else offered, usual if shown is None else shown
        policy = usual[0] if policy is None else policy
        for where, name in (("policy", policy), *(("shown", name) for name in shown)):
            if name not in offered:
                raise FieldErrors({where: f"unknown policy {name[:30]!r}; {near(name, offered)}"})
        if not 0 <= rated <= n:
            raise FieldErrors({"rated": f"there is no class {rated}; choose 0 (all) to {n}"})
        if not rated and n > DISTINCT:
            raise FieldErrors({"rated": f"dashes tell {DISTINCT} classes apart; choose one, 1 to {n}"})
        if len(set(section)) != 2 or not all(1 <= k <= n for k in section):
            raise FieldErrors({"section": f"must be two different classes, 1 to {n}; got {section}"})
        rows = read_numbers(texts, n, m, s)
        numbers: dict[str, Any] = {kind: tuple(itertools.chain(*values)) for kind, values in rows.items()}
        numbers["demands"] = tuple(rows["demands"])
        numbers["load"], *_ = numbers["load"]
        numbers["reach"], *_ = numbers["reach"] or (1.0,)
        state = cls(
            **numbers,
            policy=policy,
            job_classes=tuple(job_classes),
            resources=tuple(resources),
            shown=tuple(name for name in offered if name in shown),
            rated=rated,
            section=section,
            servers=servers,
            offered=offered,
            **more,
        )
        try:
            state.system.require_stable()
        except ModelError as error:
            raise FieldErrors({"form": str(error)}) from None
        return state

    def query(self) -> str:
        """The state as the query of a link, without the question mark."""
        return link_of(self)

    @classmethod
    def from_query(cls, query: str, offered: Mapping[str, Any] | None = None) -> State:
        """The state of a link; what the link leaves out is 1, or as in the default state.

        Parameters
        ----------
        query : str
        offered : mapping of str to Policy
            Policies that the link may name. Default: those of the catalogue for its model.

        Raises
        ------
        FieldErrors
            If a part is unknown or has another number of entries than there are classes or resources, or a
            number is wrong.
        """
        return cls.from_texts(**read_link(query), offered=offered)

    @classmethod
    def from_scenario(cls, scenario: Any) -> State:
        """State of a scenario: its pool or cluster, counts, traffic, policies and fluid start.

        Raises
        ------
        ModelError
            If the model has too few or too many classes, resources or servers, limits or a given gamma, or
            its traffic does not fit.
        """
        problem = scenario.model
        servers: tuple[str, ...] = getattr(problem, "servers", ())
        if not servers and not all(math.isinf(limit) for limit in problem.limits):
            raise ModelError("the explorer shows pools without limits; remove pool.limits")
        if servers and problem.given_gamma is not None:
            raise ModelError(
                "the explorer shows clusters on which a task holds the same everywhere; remove cluster.gamma"
            )
        try:
            require_sizes(n := problem.n_classes, problem.n_resources, len(servers))
        except FieldErrors as error:
            raise ModelError(error.messages["form"]) from None
        # With no traffic the explorer starts with all classes alike, at its default load.
        mix, load = (1.0,) * n, cls.load
        if scenario.has_traffic:
            loads = scenario.system.loads
            # Proportions, in units of the smallest: 3 and 1 rather than .0871 and .0290.
            least = min((float(v) for v in loads if v > 0), default=1.0)
            mix = tuple(tidy(float(v) / least) for v in loads)
            load = tidy(float(scenario.system.relative_loads.max()))
            if not 0 < load < 1:
                raise ModelError(
                    f"the explorer shows traffic that fits; the relative load of this scenario is "
                    f"{load:.4g}, so set a traffic.load above 0 and below 1, or smaller arrival rates"
                )
        known, usual = _catalogue(servers)
        # An order of whole jobs that looks at more than counts has nothing to show here.
        own = _named([policy for policy in scenario.policies if callable(policy)], known)
        start: Row = (8.0, 2.0) if n == 2 and not servers else ()
        if scenario.has("fluid") and start:
            start = tuple(float(v) for v in scenario.section("fluid").start)
        values = {
            "demands": problem.demands,
            "capacities": problem.capacities,
            "weights": problem.weights,
            "counts": scenario.counts,
            "mix": mix,
            "load": load,
            "start": start,
            "reach": nice_above(max(start) or 1.0) if start else 1.0,
            "eligible": _placements(problem) if servers else (),
        }
        try:
            return cls.from_texts(
                field_texts(values, n, problem.n_resources, len(servers)),
                next(iter(own), None),
                problem.job_classes,
                problem.resources,
                tuple(own) or usual,
                0 if n <= ALL_CLASSES else 1,
                {**known, **own},
                servers=servers,
                origin=Path(scenario.name).stem,
                left_out=left_out(scenario),
            )
        except FieldErrors as error:
            raise ModelError(f"the explorer cannot show this scenario: {error}") from None

    def resized(self, n_classes: int, n_resources: int, n_servers: int | None = None) -> State:
        """The state with classes, resources or servers added or dropped.

        Every class of a new kind demands 1 and may run on all servers; a new server is like the last one.
        """
        n, m, old = n_classes, n_resources, len(self.servers)
        s = old if n_servers is None else n_servers

        def cut(row: Sequence[float], length: int) -> Row:
            return (*row, *[1.0] * length)[:length]

        def names(known: Sequence[str], length: int, stem: str) -> tuple[str, ...]:
            fresh = (f"{stem} {k + 1}" for k in range(length + len(known)))
            return (*known, *(name for name in fresh if name not in known))[:length]

        demands = [cut(row, m) for row in (*self.demands, *[()] * n)[:n]]
        demands = [row if any(row) else (1.0,) * m for row in demands]
        # With all jobs, or all traffic, dropped, the classes that are left are alike.
        counts, mix = (row if any(row) else (1.0,) * n for row in (cut(self.counts, n), cut(self.mix, n)))
        # A fresh resource is large enough not to bind at once.
        fresh = [10.0 * max(row[j] for row in demands) for j in range(m)]
        hosts = [(*row, *fresh[len(row) :])[:m] for row in _cut(self.capacities, self.n_resources)]
        hosts = (hosts + [hosts[-1]] * s)[: max(s, 1)]
        if not s:
            hosts = [tuple(v or fresh[j] for j, v in enumerate(hosts[0]))]
        runs = [cut(row, s) for row in (*(self._by_class() if old else ()), *[()] * n)[:n]]
        other: dict[str, Any] = {}
        if bool(s) != bool(old):
            known, usual = _catalogue(s)
            other = {"offered": known, "shown": usual, "policy": usual[0], "origin": "", "left_out": ()}
        drifts = n == 2 and not s
        return replace(
            self,
            demands=tuple(demands),
            capacities=tuple(itertools.chain(*hosts)),
            weights=cut(self.weights, n),
            counts=counts,
            mix=mix,
            start=(self.start or (8.0, 2.0)) if drifts else (),
            reach=(self.reach if self.start else 10.0) if drifts else 1.0,
            job_classes=names(self.job_classes, n, "class"),
            resources=names(self.resources, m, "resource"),
            servers=names(self.servers, s, "server"),
            eligible=tuple(itertools.chain(*(row if any(row) else (1.0,) * s for row in runs))),
            rated=1 if n > ALL_CLASSES else 0,
            section=self.section if max(self.section) <= n else SECTION,
            **other,
        )

    def to_toml(self) -> str:
        """The state as a scenario file, with the policies shown, that of a drift field first.

        Raises
        ------
        ModelError
            If one of them is of a Python file: what is saved elsewhere would not find it; or if they have
            different trees.
        """
        drifting = [self.policy] if self.start else []
        chosen = [*drifting, *(name for name in self.shown if name not in drifting)]
        fluid = {"fluid": {"start": plain_numbers(self.start)}} if self.start else {}
        return toml(
            {
                "title": "State of the explorer",
                **({"policies": list(map(self._spec, chosen))} if chosen else {}),
                "counts": plain_numbers(self.counts),
                "cluster" if self.servers else "pool": self.problem.to_dict(),
                **table_of_trees([self.offered[name] for name in chosen], self.problem),
                "traffic": {"mix": plain_numbers(self.mix), "load": self.load},
                **fluid,
            }
        )

    def _spec(self, name: str) -> Any:
        """A policy as scenario files name it."""
        try:
            return policy_spec(self.offered[name])
        except ModelError:
            raise ModelError(
                f"policy {name!r} is of a Python file, which a scenario that is saved elsewhere would not "
                f"find; hide it{', take another one for the drift' if self.start else ''}, and write its "
                "name into the saved file"
            ) from None


def _catalogue(servers: Sequence[str] | int) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Policies of the catalogue for a cluster or for a pool, and those that are shown at first."""
    return (SERVER_POLICIES, SERVER_SHOWN) if servers else (POLICIES, SHOWN)


def _cut(values: Sequence[Any], length: int) -> list[Any]:
    """Rows of this length, one after the other."""
    return [tuple(values[k : k + length]) for k in range(0, len(values), length)]


def _placements(cluster: Cluster) -> Any:
    """1 where a class may run by its constraints, a row per class."""
    given = cluster.given_eligible
    return np.ones_like(cluster.gamma) if given is None else given.astype(float)


def _named(policies: Sequence[Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Policies by their names, with a number where another one has the name already."""
    named: dict[str, Any] = {}
    for policy in policies:
        name = policy_name(policy)
        for k in itertools.count(2):
            if {**known, **named}.get(name, policy) == policy:
                break
            name = f"{policy_name(policy)} ({k})"
        named[name] = policy
    return named


def nice_above(value: float) -> float:
    """Smallest of 1, 2 and 5 times a power of ten that is at least the value, > 0.

    Examples
    --------
    >>> nice_above(8.1), nice_above(0.13)
    (10.0, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{k * power:.6g}") for k in (1, 2, 5, 10) if k * power >= value * (1 - 1e-12))

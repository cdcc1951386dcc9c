"""What a scenario file says: its model, policies and system, and each table with its defaults."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from fairness import Cluster, Problem
from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairqueues.scenario import names
from fairqueues.scenario.building import distinct, located, policy_for
from fairqueues.scenario.reading import Place
from fairqueues.scenario.sections import SECTIONS, Document
from fairqueues.scenario.toml_text import ScenarioError

__all__ = ["Content"]

EVENTS, REPLICATIONS = 100_000, 40
"""Of the first run of a simulated method: enough for dozens of classes in a minute or so."""


@dataclass(frozen=True, eq=False, repr=False)
class Content:
    """A file that was read, and what was built of it; its attributes are those of Scenario."""

    document: Document
    text: str
    name: str
    policies: tuple[Any, ...]
    _model: Any
    tree: Any
    _system: Any
    place: Place
    recorded: Any = None
    fit: Any = None

    @property
    def title(self) -> str:
        """What this is."""
        return self.document.title

    @property
    def source(self) -> str | None:
        """Where it comes from."""
        return self.document.source

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return int(self.document.seed)

    @property
    def has_model(self) -> bool:
        """Whether there is a pool, a cluster or a network."""
        return self._model is not None

    @property
    def model(self) -> Problem | Cluster:
        """The pool (a network is one) or cluster.

        Raises
        ------
        ScenarioError
            If the scenario is about tenants of a cloud only.
        """
        if self._model is None:
            raise self.error((), "needs a model: [pool], [cluster] or [network], or [trace]")
        model: Problem | Cluster = self._model
        return model

    @property
    def counts(self) -> FloatArray:
        """Jobs present per class, (n_classes,); 1 each unless given."""
        given = self.document.counts
        return np.ones(self.model.n_classes) if given is None else np.array(given, dtype=float)

    @property
    def has_traffic(self) -> bool:
        """Whether jobs arrive, so that there is a system."""
        return self._system is not None

    @property
    def system(self) -> Any:
        """The model with its traffic, a :class:`queueing.System`.

        Raises
        ------
        ScenarioError
            If there is no [traffic].
        """
        if self._system is None:
            raise self.error((), "needs [traffic]: arrival_rates, or loads, or mix and load")
        return self._system

    @property
    def stable_system(self) -> Any:
        """The system, if the loads fit.

        Raises
        ------
        ScenarioError
            If there is no [traffic], or no policy could carry it.
        """
        system = self.system
        given = self.document.traffic
        key = next(
            (k for k in ("arrival_rates", "loads", "load") if given and getattr(given, k) is not None), None
        )
        path: tuple[str, ...] = ("traffic", key) if key else ("traffic",)
        if given is None:
            path = ("network", "traffic") if self.document.trace is None else ("trace",)
        try:
            with located(self.place, path):
                system.require_stable()
        except ScenarioError as error:
            trace = self.document.trace
            if trace is None or trace.reader == "jobs":
                raise
            told = str(error).partition(";")[0]  # what follows is for rates that are given
            raise ScenarioError(f"{told}; add load = 0.8, say, or replay the record") from None
        return system

    @property
    def schedulers(self) -> tuple[Any, ...]:
        """Schedulers of whole tasks, of [simulation]."""
        return tuple(names.scheduler_named(spec) for spec in self.section("simulation").schedulers)

    @property
    def placement(self) -> Any:
        """Placement rule of whole tasks, of [simulation]; None if not given."""
        spec = self.section("simulation").placement
        return None if spec is None else names.placement_named(spec)

    @property
    def region_method(self) -> Any:
        """Method of [region] for service rates, as :meth:`rate_method` finds it."""
        with located(self.place, ("region", "method")):
            return self.rate_method(self.section("region").method, self.place.folder)

    def sweep_method(self, spec: Any, folder: Path | None = None) -> Any:
        """What a sweep evaluates: "balanced", "bound" or a policy; ``folder`` has Python files of policies.

        Raises
        ------
        ModelError
            If the name is unknown, or of the two that are for one pool, and the model has servers.
        """
        from capacity.sweeping.methods import METHODS

        if isinstance(spec, str) and spec in METHODS and isinstance(self.model, Cluster):
            raise ModelError(f"{spec!r} is known for one pool, but the model has servers; leave it out")
        return self._method(spec, folder)

    @property
    def sweep_methods(self) -> tuple[Any, ...]:
        """Methods of [sweep]; the policies of the file unless it gives some."""
        specs = self.section("sweep").methods
        if specs is None:
            return self.policies
        make = partial(self.sweep_method, folder=self.place.folder)
        return distinct(specs, ("sweep", "methods"), make, self.place)

    def rate_method(self, spec: Any, folder: Path | None = None) -> Any:
        """How service rates are found: "balanced", "bound", a policy (its chain) or "simulated:POLICY".

        A simulation draws from the seed of the file. ``folder`` has the Python files of policies.

        Raises
        ------
        ModelError
            If the name is unknown.
        """
        if isinstance(spec, str) and spec.startswith("simulated:"):
            from capacity import Simulated

            policy = self.policy_named(spec.removeprefix("simulated:"), folder)
            return Simulated(policy, events=EVENTS, replications=REPLICATIONS, rng=self.seed)
        return self._method(spec, folder)

    def _method(self, spec: Any, folder: Path | None) -> Any:
        from capacity.sweeping.methods import METHODS

        return spec if isinstance(spec, str) and spec in METHODS else self.policy_named(spec, folder)

    def policy_named(self, spec: Any, folder: Path | None = None) -> Any:
        """Policy of a name that fits the model and the tree; ModelError as
        :func:`~fairqueues.scenario.names.policy_named`, to which ``folder`` goes."""
        return policy_for(self.model, spec, self.tree, folder)

    def has(self, section: str) -> bool:
        """Whether the file has this table."""
        return getattr(self.document, _known(section)) is not None

    def section(self, section: str) -> Any:
        """Table of the file, validated; with its defaults if the file has none and all keys have one.

        Raises
        ------
        ScenarioError
            If the file lacks the table, and it has keys that must be given.
        """
        found = getattr(self.document, _known(section))
        if found is None:
            try:
                found = SECTIONS[section]()
            except ValidationError as error:
                keys = ", ".join(str(problem["loc"][0]) for problem in error.errors())
                raise self.error((), f"needs [{section}] with {keys}") from None
        return found

    def error(self, path: tuple[str | int, ...], message: str) -> ScenarioError:
        """Error about a key of the file, with its line: ``error(("chain", "tail"), "...")``."""
        return self.place.error(path, message)


def _known(section: str) -> str:
    if section not in SECTIONS:
        raise ScenarioError(f"no table [{section}]; {near(section, SECTIONS)}")
    return section

"""A scenario: a model, its policies, its traffic and what to compute, from one TOML text.

Reading builds all models and policies, so that a scenario that could be read can be computed with.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from fairness import Cluster, Problem
from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray
from fairqueues.scenario import names
from fairqueues.scenario.building import build_model, build_policies, build_system, located
from fairqueues.scenario.checking import check_document
from fairqueues.scenario.reading import Place, read_document, read_text
from fairqueues.scenario.sections import SECTIONS, Document
from fairqueues.scenario.source_text import ScenarioError
from fairqueues.scenario.sweeping import SweptModel, axis_values, first_load
from fairqueues.scenario.writing import toml

__all__ = ["Scenario"]


@dataclass(frozen=True, eq=False, repr=False)
class Scenario:
    """A scenario that was read and validated; made by :meth:`read`, :meth:`parse` or :meth:`of`.

    Attributes
    ----------
    document : Document
        The file as validated pydantic models.
    text : str
        The TOML.
    name : str
        File name, for messages.
    policies : tuple
        Policy objects, as named in the file.
    place : Place
        Where the keys stand.

    Examples
    --------
    >>> scenario = Scenario.parse('''
    ... title = "CPU and RAM"
    ... policies = ["drf", "alpha:2"]
    ... [pool]
    ... demands = [[1, 4], [3, 1]]
    ... capacities = [9, 18]
    ... [traffic]
    ... mix = [1, 1]
    ... load = 0.8
    ... ''')
    >>> scenario
    Scenario('CPU and RAM': pool, traffic; drf, alpha:2)
    >>> scenario.system
    System(2 classes; relative load: resource 1 0.8, resource 2 0.5)
    >>> Scenario.parse(scenario.to_toml()) == scenario
    True
    """

    document: Document
    text: str
    name: str
    policies: tuple[Any, ...]
    _model: Any
    _system: Any
    place: Place

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Scenario:
        """Scenario of a file.

        Raises
        ------
        ScenarioError
            If the file cannot be read or is wrong; one line with file, line and key.
        """
        return cls.parse(read_text(path), os.fspath(path))

    @classmethod
    def parse(cls, text: str, name: str = "<text>") -> Scenario:
        """Scenario of a TOML text; ``name`` stands for the file in messages.

        Raises
        ------
        ScenarioError
            If the text is wrong; one line with name, line and key.
        """
        document, place = read_document(text, name)
        built = build_model(document, place)
        policies = build_policies(document, built.model, place)
        system = None
        traffic = document.traffic
        if traffic is not None:
            system = build_system(traffic, built, place, first_load(document))
        elif built.loads is not None:
            from queueing import System

            assert built.model is not None  # loads come with a network
            system = System(built.model, built.loads)
        scenario = cls(document, text, name, policies, built.model, system, place)
        check_document(scenario)
        return scenario

    @classmethod
    def of(cls, data: Mapping[str, Any], name: str = "<data>") -> Scenario:
        """Scenario of nested dicts, as a TOML text would give them; arrays and fractions are welcome.

        Examples
        --------
        >>> Scenario.of({"pool": {"demands": np.eye(2), "capacities": [1, 2]}}).model.n_classes
        2
        """
        return cls.parse(toml(data), name)

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
            raise self.error((), "needs a model: [pool], [cluster] or [network]")
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
        path = ("network", "traffic") if given is None else ("traffic", key) if key else ("traffic",)
        with located(self.place, path):
            system.require_stable()
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
        """Method of [region] for service rates: "balanced", "bound" or a policy."""
        spec = self.section("region").method
        if spec in ("balanced", "bound"):
            return spec
        with located(self.place, ("region", "method")):
            return names.policy_named(spec, cluster=isinstance(self.model, Cluster))

    @property
    def swept_model(self) -> SweptModel:
        """Model of the sweep: called with a value per dimension, it gives the System of that point."""
        return SweptModel(self)

    @property
    def sweep_values(self) -> dict[str, list[float]]:
        """Values of each dimension of the sweep, as :func:`capacity.sweep` takes them."""
        return axis_values(self)

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

    def to_toml(self) -> str:
        """Text with the same content, without comments; keys that were not given are left out."""
        return toml(self.document.model_dump(exclude_unset=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.document == other.document

    def __hash__(self) -> int:
        return hash((self.title, self.seed))

    def __reduce__(self) -> Any:
        return Scenario.parse, (self.text, self.name)

    def __repr__(self) -> str:
        tables = ", ".join(section for section in SECTIONS if self.has(section))
        policies = ", ".join(p if isinstance(p, str) else p["policy"] for p in self.document.policies)
        return f"Scenario({self.title!r}: {tables}{'; ' * bool(policies)}{policies})"


def _known(section: str) -> str:
    if section not in SECTIONS:
        raise ScenarioError(f"no table [{section}]; {near(section, SECTIONS)}")
    return section

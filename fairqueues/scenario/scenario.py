"""A scenario: a model, its policies, its traffic and what to compute, from one text, TOML or JSON.

Reading builds all models and policies, so that a scenario that could be read can be computed with.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from fairness import Cluster, Problem
from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairqueues.json_text import json_of
from fairqueues.scenario import names
from fairqueues.scenario.models import Built
from fairqueues.scenario.place import Place, ScenarioError
from fairqueues.scenario.python_files import require_answers
from fairqueues.scenario.queues import table_of_trees
from fairqueues.scenario.reading import read_document, read_text
from fairqueues.scenario.sections import SECTIONS, Document
from fairqueues.scenario.sweeping import SweptModel, dimension
from fairqueues.scenario.toml_text import toml

__all__ = ["Scenario"]

EVENTS, REPLICATIONS = 100_000, 40
"""Of the first run of a simulated method: enough for dozens of classes in a minute or so."""

_TRAFFIC = "needs [traffic]: arrival_rates, or loads, or mix and load"
_NEEDS = {"model": "needs a model; add [pool], [cluster] or [network]", "traffic": _TRAFFIC}
"""What is told of a table that needs what is not there."""


@dataclass(frozen=True, eq=False, repr=False)
class Scenario:
    """A scenario that was read and validated; made by :meth:`read`, :meth:`parse` or :meth:`of`.

    Attributes
    ----------
    document : Document
        The file as validated pydantic models.
    text : str
        The TOML, or the JSON.
    name : str
        File name, for messages.
    policies : tuple
        Policy objects, as named in the file.
    tree : fairness.Tree or None
        Queues within queues; their classes may be the users of a recorded cluster, for a replay.
    place : Place
        Where the keys stand.
    recorded : (ClusterTrace, NodeList) or None
        Tasks and nodes of [trace], where it is of a cluster.
    fit : TraceFit or None
        How the system was estimated of them.

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
    place: Place
    policies: tuple[Any, ...]
    tree: Any
    _model: Any
    _system: Any
    recorded: Any = None
    fit: Any = None

    @classmethod
    def read(cls, path: str | os.PathLike[str] | Traversable) -> Scenario:
        """Scenario of a file, or of a resource of a package, which may lie in a zip file.

        Raises
        ------
        ScenarioError
            If the file cannot be read or is wrong; one line with file, line and key.
        """
        if not isinstance(path, str | os.PathLike):
            return cls.parse(path.read_text("utf-8"), str(path))
        return cls.parse(read_text(path), os.fspath(path), folder=Path(path).parent)

    @classmethod
    def parse(
        cls, text: str, name: str = "<text>", *, folder: str | os.PathLike[str] | None = None
    ) -> Scenario:
        """Scenario of a text; ``name`` stands for the file in messages.

        It is TOML, or JSON with the same tables: one object whose keys are those of the file. There a limit
        that is null is infinite.

        ``folder`` is where files that it names are looked for, such as those of [trace] and the Python files
        of policies, "mine.py:priority"; without it a text runs none, and data lie in the working directory.

        Raises
        ------
        ScenarioError
            If the text is wrong; one line with name, line and key.
        """
        return cls._built(text, name, None if folder is None else Path(folder))

    @classmethod
    def _built(
        cls, text: str, name: str, folder: Path | None, known: tuple[Any, ...] | None = None
    ) -> Scenario:
        """Scenario of a text; with the policies ``known``, of one that was checked already."""
        document, place = read_document(text, name, folder)
        built = document.model(place)
        sharing, recorded, tree = built.model, None, None
        if document.trace is not None:
            arrives = "network.traffic" if built.loads is not None else ""
            arrives = "traffic" if document.traffic is not None else arrives
            recorded = document.trace.build(built, arrives, place)
            built = Built(recorded.system.problem)
            sharing = built.model if document.tree is None else recorded.sharing(document.tree)
        if document.tree is not None:
            if sharing is None:
                raise place.error(("tree",), "needs a model; add [pool], [cluster] or [network]")
            tree = document.tree.build(sharing, place)
        policies = _policies(document, sharing, tree, place) if known is None else known
        system = None if recorded is None else recorded.system
        if document.traffic is not None:
            swept = None if document.sweep is None else document.sweep.first_load
            system = document.traffic.build(built, place, swept)
        elif built.loads is not None:
            from queueing import System

            assert built.model is not None  # loads come with a network
            system = System(built.model, built.loads)
        cluster, fit = (None, None) if recorded is None else (recorded.cluster, recorded.fit)
        scenario = cls(
            document=document,
            text=text,
            name=name,
            place=place,
            policies=policies,
            tree=tree,
            _model=built.model,
            _system=system,
            recorded=cluster,
            fit=fit,
        )
        if known is None:
            scenario._check()
        return scenario

    def _check(self) -> None:
        """Refuse a scenario whose tables do not fit together."""
        if self.has_model:
            self.place.require_length(("counts",), self.document.counts, self.model.n_classes)
        given = {name: getattr(self.document, name) for name in SECTIONS if self.has(name)}
        missing = {"model": not self.has_model, "traffic": not self.has_traffic}
        for what, told in _NEEDS.items():
            for name, section in given.items():
                if what in section.needs and missing[what]:
                    raise self.error((name,), told)
        for section in given.values():
            section.check(self)

    @classmethod
    def of(cls, data: Mapping[str, Any], name: str = "<data>") -> Scenario:
        """Scenario of nested dicts, as a TOML text would give them; arrays and fractions are welcome.

        Examples
        --------
        >>> import numpy as np
        >>> Scenario.of({"pool": {"demands": np.eye(2), "capacities": [1, 2]}}).model.n_classes
        2
        """
        return cls.parse(toml(data), name)

    @classmethod
    def of_system(cls, system: Any, policies: Sequence[Any] = (), name: str = "<system>") -> Scenario:
        """Scenario of a :class:`queueing.System` and policies, which :meth:`to_toml` writes.

        Raises
        ------
        ModelError
            If a policy, a law or an arrival process has no name in scenarios, or policies have different
            trees.

        Examples
        --------
        >>> from fairness import DRF, Problem
        >>> from queueing import Erlang, System
        >>> system = System(Problem([[1, 4], [3, 1]], [9, 18]), [1, 0.5], sizes=Erlang(2, mean=1.5))
        >>> again = Scenario.of_system(system, [DRF()]).system
        >>> again.sizes == system.sizes, (again.loads == system.loads).all()
        (True, np.True_)
        """
        if not isinstance(system.arrivals, tuple):
            raise ModelError("a scenario has no place for a trace; give the system arrival processes")
        traffic = {
            "arrival_rates": system.arrival_rates,
            "mean_sizes": system.mean_sizes,
            "sizes": [names.law_spec(law) for law in system.sizes],
            "arrivals": [names.arrivals_spec(process) for process in system.arrivals],
        }
        model = {"cluster" if system.is_cluster else "pool": system.problem.to_dict(), "traffic": traffic}
        model |= table_of_trees(policies, system.problem)
        return cls.of({"policies": list(map(names.policy_spec, policies)), **model}, name)

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
    def is_cluster(self) -> bool:
        """Whether the model is a cluster of servers."""
        return isinstance(self.model, Cluster)

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
            raise self.error((), _TRAFFIC)
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
            with self.place.located(*path):
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
        with self.place.located("region", "method"):
            return self.rate_method(self.section("region").method, self.place.folder)

    def sweep_method(self, spec: Any, folder: Path | None = None) -> Any:
        """What a sweep evaluates: "balanced", "bound" or a policy; ``folder`` has Python files of policies.

        Raises
        ------
        ModelError
            If the name is unknown, or of the two that are for one pool, and the model has servers.
        """
        from capacity.means.words import METHODS

        if isinstance(spec, str) and spec in METHODS and self.is_cluster:
            raise ModelError(f"{spec!r} is known for one pool, but the model has servers; leave it out")
        return self._method(spec, folder)

    @property
    def sweep_methods(self) -> tuple[Any, ...]:
        """Methods of [sweep]; the policies of the file unless it gives some."""
        specs = self.section("sweep").methods
        if specs is None:
            return self.policies
        make = partial(self.sweep_method, folder=self.place.folder)
        return self.place.distinct(("sweep", "methods"), specs, make)

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
        from capacity.means.words import METHODS

        return spec if isinstance(spec, str) and spec in METHODS else self.policy_named(spec, folder)

    def policy_named(self, spec: Any, folder: Path | None = None) -> Any:
        """Policy of a name that fits the model and the tree; ModelError as
        :func:`~fairqueues.scenario.names.policy_named`, to which ``folder`` goes."""
        return _policy_for(self.model, spec, self.tree, folder)

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

    @property
    def swept_model(self) -> SweptModel:
        """Model of the sweep: called with a value per dimension, it gives the System of that point."""
        return SweptModel(self)

    @property
    def sweep_values(self) -> dict[str, list[float]]:
        """Values of each dimension of the sweep, as :func:`capacity.sweep` takes them."""
        return {dimension(key): values for key, values in self.section("sweep").values.items()}

    def to_json(self) -> str:
        """Text of JSON with the same content; keys that were not given are left out.

        Examples
        --------
        >>> scenario = Scenario.parse('{"pool": {"demands": [["1/3"]], "capacities": [2]}}')
        >>> Scenario.parse(scenario.to_json()) == Scenario.parse(scenario.to_toml()) == scenario
        True
        """
        return json_of(self.document.model_dump(exclude_unset=True))

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
        # A worker may be on another machine, without the Python files of policies.
        return Scenario._built, (self.text, self.name, self.place.folder, self.policies)

    def __repr__(self) -> str:
        tables = ", ".join(section for section in SECTIONS if self.has(section))
        policies = ", ".join(p if isinstance(p, str) else p["policy"] for p in self.document.policies)
        return f"Scenario({self.title!r}: {tables}{'; ' * bool(policies)}{policies})"


def _policy_for(model: Any, spec: Any, tree: Any, folder: Path | None) -> Any:
    """Policy of a name that fits a model, or None, and a tree, or None.

    One of a Python file in ``folder`` is asked before anything long begins.
    """
    cluster = None if model is None else isinstance(model, Cluster)
    policy = names.policy_named(spec, cluster=cluster, tree=tree, folder=folder)
    own = names.split_name(spec)
    if own is not None and folder is not None and model is not None:
        require_answers(policy, model, folder / own[0])
    return policy


def _policies(document: Document, model: Any, tree: Any, place: Place) -> tuple[Any, ...]:
    """Policies of a document; they fit the model, and no two are alike."""

    def fitting(spec: Any) -> Any:
        policy = _policy_for(model, spec, tree, place.folder)
        if model is not None and callable(policy) and (isinstance(spec, dict) or ":" in spec):
            # Parameters per class or resource show only here whether they fit; nobody present is cheap.
            policy(model, np.zeros(model.n_classes))
        return policy

    return place.distinct(("policies",), document.policies, fitting)


def _known(section: str) -> str:
    if section not in SECTIONS:
        raise ScenarioError(f"no table [{section}]; {near(section, SECTIONS)}")
    return section

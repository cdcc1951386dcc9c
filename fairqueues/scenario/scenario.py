"""A scenario: a model, its policies, its traffic and what to compute, from one text, TOML or JSON.

Reading builds all models and policies, so that a scenario that could be read can be computed with.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from fairness.errors import ModelError
from fairqueues.json_text import json_of
from fairqueues.scenario import names
from fairqueues.scenario.building import Built, build_model, build_policies, build_system
from fairqueues.scenario.checking import check_document
from fairqueues.scenario.content import Content
from fairqueues.scenario.queues import build_tree, table_of_trees
from fairqueues.scenario.reading import read_document, read_text
from fairqueues.scenario.recorded import build_recorded
from fairqueues.scenario.sections import SECTIONS
from fairqueues.scenario.sweeping import SweptModel, axis_values, first_load
from fairqueues.scenario.toml_text import toml

__all__ = ["Scenario"]


class Scenario(Content):
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
        built = build_model(document, place)
        recorded = None
        if document.trace is not None:
            recorded = build_recorded(document.trace, document, built, place)
            built = Built(recorded.system.problem)
        tree, sharing = None, built.model
        if document.tree is not None:
            if recorded is not None:
                sharing = recorded.sharing(document.tree)
            if sharing is None:
                raise place.error(("tree",), "needs a model; add [pool], [cluster] or [network]")
            tree = build_tree(document.tree, sharing, place)
        policies = build_policies(document, sharing, tree, place) if known is None else known
        system = None if recorded is None else recorded.system
        traffic = document.traffic
        if traffic is not None:
            swept = None if document.sweep is None else first_load(document.sweep)
            system = build_system(traffic, built, place, swept)
        elif built.loads is not None:
            from queueing import System

            assert built.model is not None  # loads come with a network
            system = System(built.model, built.loads)
        cluster, fit = (None, None) if recorded is None else (recorded.cluster, recorded.fit)
        found = (policies, built.model, tree, system)
        scenario = cls(document, text, name, *found, place=place, recorded=cluster, fit=fit)
        if known is None:
            check_document(scenario)
        return scenario

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
    def swept_model(self) -> SweptModel:
        """Model of the sweep: called with a value per dimension, it gives the System of that point."""
        return SweptModel(self)

    @property
    def sweep_values(self) -> dict[str, list[float]]:
        """Values of each dimension of the sweep, as :func:`capacity.sweep` takes them."""
        return axis_values(self)

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

"""The grid of a scenario's sweep: which numbers of the file a parameter changes, and to what.

A parameter is ``load``, or a key of the model or the traffic with the names of its entry behind dots:
``capacities.ram``, ``demands.A.cpu``, ``weights.A``, ``arrival_rates.A``, ``mean_sizes.A``. A point of the
grid is the same file with these numbers. Dimensions of the result are words, so there
``capacities.ram`` is called ``capacities_ram``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fairness.arguments.plain import near
from fairness.display.wording import rough
from fairqueues.scenario.building import build_model, build_system
from fairqueues.scenario.content import Content
from fairqueues.scenario.sections import Document, Sweep

__all__ = ["SweptModel", "axis_values", "check_sweep", "dimension", "first_load"]

LARGEST_GRID = 1_000_000
"""Points; more would not end, and their results would not be looked at."""

_TRAFFIC = ("arrival_rates", "loads", "mix", "mean_sizes")
_PATTERN = {
    "pool": {
        "demands": ("job_classes", "resources"),
        "capacities": ("resources",),
        "weights": ("job_classes",),
        "limits": ("job_classes",),
    },
    "cluster": {
        "demands": ("job_classes", "resources"),
        "capacities": ("servers", "resources"),
        "weights": ("job_classes",),
    },
    "network": {},
}


@dataclass(frozen=True)
class SweptModel:
    """The model of a sweep: called with one keyword per dimension, it gives the System of that point.

    Its ``repr`` tells the whole scenario, so that a checkpoint knows whether it belongs to it.
    """

    scenario: Content

    def __call__(self, **values: float) -> Any:
        """System at a point; a ModelError if there is none."""
        scenario = self.scenario
        data = scenario.document.model_dump(exclude_unset=True)
        for key in scenario.section("sweep").over:
            _change(scenario, data, key, values[dimension(key)])
        document = Document.model_validate(data)
        assert document.traffic is not None
        return build_system(document.traffic, build_model(document, scenario.place), scenario.place)

    def __repr__(self) -> str:
        kept = self.scenario.document.model_dump(exclude_unset=True, exclude={"sweep", "title", "source"})
        network = self.scenario.document.network
        if network is not None and network.graphml is not None:  # the file may change
            kept["graphml"] = self.scenario.model.to_dict()
        return f"SweptModel({kept!r})"


def dimension(parameter: str) -> str:
    """Name of a parameter as a dimension of the result.

    Examples
    --------
    >>> dimension("capacities.ram"), dimension("weights.class 1")
    ('capacities_ram', 'weights_class_1')
    """
    word = re.sub(r"\W+", "_", parameter)
    return word if word.isidentifier() else f"_{word}"


def axis_values(scenario: Content) -> dict[str, list[float]]:
    """Values of each dimension of the sweep, as :func:`capacity.sweep` takes them."""
    return {dimension(key): _values(axis) for key, axis in scenario.section("sweep").over.items()}


def first_load(sweep: Sweep) -> float | None:
    """First value of a sweep over the load, for a file that gives it nowhere else."""
    values = _values(sweep.over["load"]) if "load" in sweep.over else []
    return values[0] if values and values[0] > 0 else None


def _values(axis: Any) -> list[float]:
    if isinstance(axis, list):
        return [float(v) for v in axis]
    return [float(v) for v in np.linspace(float(axis.start), float(axis.stop), axis.number)]


def check_sweep(scenario: Content, sweep: Any) -> None:
    """Refuse a sweep over unknown parameters, with wrong values, or with too many points.

    Raises
    ------
    ScenarioError
    """
    if not scenario.has("traffic"):
        raise scenario.error(("sweep",), "needs [traffic]: arrival_rates, or loads, or mix and load")
    words: dict[str, str] = {}
    for key, axis in sweep.over.items():
        path = ("sweep", "over", key)
        places = _places(scenario, key)
        word = dimension(key)
        if word in words:
            raise scenario.error(path, f"{key!r} and {words[word]!r} have the same name {word!r}; rename one")
        words[word] = key
        values = _values(axis)
        if not values:
            raise scenario.error(path, "the list is empty; give at least one value")
        if len(set(values)) < len(values):
            twice = next(v for v in values if values.count(v) > 1)
            raise scenario.error(path, f"{twice:g} is there twice; give distinct values")
        zero = places[1] in ("demands", "capacities", "arrival_rates", "loads", "mix")
        if any(v < 0 or (v == 0 and not zero) for v in values):
            bad = min(values)
            raise scenario.error(path, f"got {bad:g}; {key} must be {'>= 0' if zero else '> 0'}")
    grid = math.prod(len(_values(axis)) for axis in sweep.over.values())
    points = grid * max(1, len(scenario.sweep_methods))
    if points > LARGEST_GRID:
        raise scenario.error(
            ("sweep", "over"),
            f"{rough(points, 3)} points, more than {LARGEST_GRID:,.0f}; take fewer values",
        )
    first = {word: values[0] for word, values in axis_values(scenario).items()}
    SweptModel(scenario)(**first)


def _places(scenario: Content, key: str) -> tuple[Any, ...]:
    """Path into the data that a parameter changes; an error, with the nearest, if there is none."""
    known = _known(scenario)
    if key == "load" and key not in known:
        raise scenario.error(
            ("sweep", "over", key), "load scales a mix; in [traffic] give mix, not loads or arrival_rates"
        )
    if key not in known:
        raise scenario.error(("sweep", "over", key), f"unknown parameter {key!r}; {near(key, known)}")
    return known[key]


def _known(scenario: Content) -> dict[str, tuple[Any, ...]]:
    """Parameters that can be swept, with the paths of their numbers."""
    model, traffic = scenario.model, scenario.document.traffic
    found: dict[str, tuple[Any, ...]] = {}
    if traffic is not None and traffic.arrival_rates is None and traffic.loads is None:
        found["load"] = ("traffic", "load")
    if traffic is not None:
        for name in _TRAFFIC:
            if name == "mean_sizes" or getattr(traffic, name) is not None:
                for i, one in enumerate(model.job_classes):
                    found[f"{name}.{one}"] = ("traffic", name, i)
        if not isinstance(traffic.mean_sizes, list):
            found["mean_sizes"] = ("traffic", "mean_sizes")
    section = next(s for s in _PATTERN if scenario.has(s))
    for name, axes in _PATTERN[section].items():
        labels = [list(enumerate(getattr(model, axis))) for axis in axes]
        for entry in product(*labels):
            found[".".join([name, *(str(label) for _, label in entry)])] = (
                section,
                name,
                *(k for k, _ in entry),
            )
    return found


def _change(scenario: Content, data: dict[str, Any], key: str, value: float) -> None:
    """Write a value where a parameter stands, spelling out the defaults that it needs."""
    section, name, *entry = _places(scenario, key)
    table: Any = data.setdefault(section, {})
    if entry:
        model: Any = scenario.model
        if not isinstance(table.get(name), list):
            if name == "mean_sizes":
                table[name] = [table.get(name, 1.0)] * model.n_classes
            else:
                table[name] = getattr(model, name).tolist()
        table = table[name]
        *rows, name = entry
        for k in rows:
            table = table[k]
    table[name] = value

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
from typing import Any, Literal

import numpy as np
from pydantic import Field

from fairness.arguments.plain import near
from fairness.display.wording import rough
from fairqueues.scenario.key_types import Name, Number, Policy, Section, Several

__all__ = ["Sweep", "SweptModel", "dimension"]

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

    scenario: Any

    def __call__(self, **values: float) -> Any:
        """System at a point; a ModelError if there is none."""
        scenario = self.scenario
        data = scenario.document.model_dump(exclude_unset=True)
        for key in scenario.section("sweep").over:
            _change(scenario, data, key, values[dimension(key)])
        document = type(scenario.document).model_validate(data)
        return document.traffic.build(document.model(scenario.place), scenario.place)

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


class Span(Section):
    """Equally spaced values."""

    start: Number
    """First value."""
    stop: Number
    """Last value."""
    number: Several
    """How many."""


class Sweep(Section):
    """A grid of parameters."""

    needs = ("model",)

    over: dict[str, Span | list[Number]] = Field(
        min_length=1, examples=[{"load": {"start": 0.1, "stop": 0.9, "number": 9}}]
    )
    """Values, or {start, stop, number}, by parameter."""
    methods: list[Policy] | None = Field(
        None,
        min_length=1,
        description='What is evaluated: policies, "balanced" fairness and the "bound" of it; default: the '
        "policies of the file.",
        examples=[["balanced", "bound", "drf"]],
    )
    outputs: list[Literal["mean_jobs", "mean_durations", "service_rates", "tail_mass", "residual"]] = Field(
        ["mean_jobs", "mean_durations", "service_rates"], min_length=1
    )
    """What to keep of each point."""
    checkpoint: Name | None = None
    """File that a killed sweep goes on from."""

    @property
    def values(self) -> dict[str, list[float]]:
        """Values of each parameter."""
        return {key: _values(axis) for key, axis in self.over.items()}

    @property
    def first_load(self) -> float | None:
        """First value of a sweep over the load, for a file that gives it nowhere else."""
        values = self.values.get("load")
        return values[0] if values and values[0] > 0 else None

    def check(self, scenario: Any) -> None:
        """Parameters are known, their values distinct and in range, and the points not too many."""
        if not scenario.has("traffic"):
            raise scenario.error(("sweep",), "needs [traffic]: arrival_rates, or loads, or mix and load")
        words: dict[str, str] = {}
        for key, values in self.values.items():
            path = ("sweep", "over", key)
            places = _places(scenario, key)
            word = dimension(key)
            if word in words:
                told = f"{key!r} and {words[word]!r} have the same name {word!r}; rename one"
                raise scenario.error(path, told)
            words[word] = key
            if not values:
                raise scenario.error(path, "the list is empty; give at least one value")
            if len(set(values)) < len(values):
                twice = next(v for v in values if values.count(v) > 1)
                raise scenario.error(path, f"{twice:g} is there twice; give distinct values")
            zero = places[1] in ("demands", "capacities", "arrival_rates", "loads", "mix")
            if any(v < 0 or (v == 0 and not zero) for v in values):
                bad = min(values)
                raise scenario.error(path, f"got {bad:g}; {key} must be {'>= 0' if zero else '> 0'}")
        points = math.prod(map(len, self.values.values())) * max(1, len(scenario.sweep_methods))
        if points > LARGEST_GRID:
            told = f"{rough(points, 3)} points, more than {LARGEST_GRID:,.0f}; take fewer values"
            raise scenario.error(("sweep", "over"), told)
        SweptModel(scenario)(**{word: self.values[key][0] for word, key in words.items()})


def _values(axis: Any) -> list[float]:
    if isinstance(axis, list):
        return [float(v) for v in axis]
    return [float(v) for v in np.linspace(float(axis.start), float(axis.stop), axis.number)]


def _places(scenario: Any, key: str) -> tuple[Any, ...]:
    """Path into the data that a parameter changes; an error, with the nearest, if there is none."""
    known = _known(scenario)
    if key == "load" and key not in known:
        raise scenario.error(
            ("sweep", "over", key), "load scales a mix; in [traffic] give mix, not loads or arrival_rates"
        )
    if key not in known:
        raise scenario.error(("sweep", "over", key), f"unknown parameter {key!r}; {near(key, known)}")
    return known[key]


def _known(scenario: Any) -> dict[str, tuple[Any, ...]]:
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


def _change(scenario: Any, data: dict[str, Any], key: str, value: float) -> None:
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

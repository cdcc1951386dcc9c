"""What a message of the library recommends, said for the command that shows it.

The library names its own arguments: "raise max_states". Here stands, for every command, where such an
argument is given: an option, or a key of the file. What a command cannot set is told to be for Python.
"""

from __future__ import annotations

import re

from fairness.errors import VERBS

__all__ = ["ARGUMENTS", "WHERE", "placed"]


def _keys(table: str, *names: str) -> dict[str, str]:
    """Arguments that a table of the file has under the same names."""
    return {name: f"{name} in [{table}]" for name in names}


def _options(*names: str) -> dict[str, str]:
    """Arguments that are options of the same names."""
    return {name: f"--{name.replace('_', '-')}" for name in names}


_MODEL = {
    **_keys("traffic", "arrival_rates", "mean_sizes", "loads"),
    **_keys("cluster", "gamma", "eligible"),
    **{
        name: f"{name} of the model" for name in ("limits", "weights", "demands", "capacities", "job_classes")
    },
}

_CHAIN = _keys("chain", "solver", "max_states")

WHERE: dict[str, dict[str, str]] = {
    "allocate": {**_MODEL, "counts": "counts of the file"},
    "explain": {**_MODEL, **_options("places", "time_limit"), "counts": "counts of the file"},
    "solve": {**_MODEL, **_CHAIN, **_options("shape", "tail")},
    "sweep": {**_MODEL, **_CHAIN, **_keys("chain", "shape", "tail")},
    "rates": {
        **_MODEL,
        **_CHAIN,
        **_keys("chain", "tail", "shape"),
        **_keys("simulation", "events", "jobs", "replications", "warmup", "confidence", "precision"),
    },
    "simulate": {
        **_MODEL,
        **_options("events", "replications", "precision", "max_replications", "level", "time_limit"),
        **_keys("simulation", "warmup", "confidence", "order"),
        **_keys("traffic", "sizes", "arrivals"),
        "jobs": "--events",
        "n_jobs": "--jobs",
        "per_job": "tasks_per_job in [simulation]",
        "times": "task_times in [simulation]",
    },
    "replay": _options("until", "never_fits", "placement", "time_limit"),
    "fluid": {**_MODEL, **_keys("fluid", "start", "horizon")},
    "region": {
        **_MODEL,
        **_options("points", "time_limit"),
        **_keys("region", "precision", "method", "max_vertices", "max_facets", "max_configurations"),
        **_keys("region", "max_states"),
        "minimum_service_rate": "--rate",
    },
    "provision": {
        **_MODEL,
        **_options("method", "time_limit"),
        **_keys("targets", "costs", "precision", "max_states", "max_evaluations"),
        "minimum_service_rate": "minimum_service_rates in [targets]",
        "maximum_duration": "mean_durations in [targets]",
        "maximum_load": "relative_load in [targets]",
        "most": "capacities in [pool]",
    },
    "audit": _keys("audit", "budget", "properties"),
    "cloud": {
        **_keys("cloud", "epsilon", "rounds", "deadline"),
        "n_tenants": "tenants in [cloud]",
        "n_resources": "resources in [cloud]",
    },
    "enclose": _options("width"),
    "explore": _MODEL,
}
"""By command: where an argument of the library is given."""

FUNCTIONS = {
    "simulate": "fairqueues simulate",
    "DRFScheduler": "fairqueues simulate --level tasks",
    "fluid limit": "fairqueues fluid",
    "region_section": "fairqueues region --section",
    "region_volume": "fairqueues region --volume",
    "Simulated": "fairqueues region --policy simulated:POLICY",
}
"""By what messages call a function of the library: the command that calls it."""

OWN = {("provision", "Simulated"): "fairqueues provision --method simulated:POLICY"}
"""By command and function: how a command calls it that is not the one named above."""

_PYTHON = frozenset(
    {
        "atol", "batches", "choices", "confirm", "distribution", "division", "exponent", "graph", "ceiling",
        "floor", "longest", "max_assignments", "max_cycles", "max_jobs", "max_steps", "max_sweeps", "method",
        "over", "pattern", "policies", "probabilities", "quantiles", "rates", "record", "rtol", "rule",
        "server_order", "server_rule", "spread", "table", "types", "tasks", "threads", "times", "values",
        "checkpoint", "others", "outputs", "routes", "scv", "alpha", "ratio", "activity", "known", "solver",
    }
)  # fmt: skip
"""Further arguments that messages recommend, which no command sets by this name."""

ARGUMENTS = _PYTHON.union(*WHERE.values())
"""All arguments of the library that messages may recommend."""

_NAMES = "|".join(sorted(ARGUMENTS, key=len, reverse=True))
# Words that are English, too, are arguments behind a verb, or in a list.
_WORDS = re.compile(
    rf"(?:\b(?:{VERBS}|or|,|take) +(?:a |the |its )?|\b(?=\w+_)|\b(?=\w+=))({_NAMES})\b(?! +in \[)"
)

_CALLS = re.compile(rf"\b(?:{VERBS}|or|,|take) +(?:the )?({'|'.join(sorted(FUNCTIONS, reverse=True))})\b")


def recommended(message: str) -> list[str]:
    """Arguments that the remedy of a message names: what stands behind its last semicolon.

    Examples
    --------
    >>> recommended("the box of 40 x 40 states is too large; raise max_states or tail")
    ['max_states', 'tail']
    """
    _, semicolon, remedy = message.rpartition(";")
    return list(dict.fromkeys(m[1] for m in _WORDS.finditer(remedy))) if semicolon else []


def placed(message: str, command: str | None) -> str:
    """The message with the places of its arguments in this command, and the commands for its functions.

    Examples
    --------
    >>> placed("too large; raise tail or max_sweeps", "solve")
    'too large; raise tail or max_sweeps (here: --tail; only in Python: max_sweeps)'
    >>> placed("too many classes; use simulate or the fluid limit", "solve")
    'too many classes; use simulate or the fluid limit (here: fairqueues simulate, fairqueues fluid)'
    """
    here = WHERE.get(command or "", {})
    names = recommended(message)
    # Words such as "demands" are English, too: they need no place where they stand in the file as they are.
    told = [here[n] for n in names if n in here and here[n] != f"{n} of the model"]
    found = [m[1] for m in _CALLS.finditer(message.rpartition(";")[2])] if ";" in message else []
    calls = [OWN.get((command or "", name), FUNCTIONS[name]) for name in found]
    this = f"fairqueues {command}"
    told += [call.removeprefix(f"{this} ") for call in calls if command and call != this]
    python = [n for n in names if n not in here and "_" in n]
    parts = [f"here: {', '.join(dict.fromkeys(told))}"] * bool(told)
    parts += [f"only in Python: {', '.join(python)}"] * bool(python)
    return f"{message} ({'; '.join(parts)})" if parts else message

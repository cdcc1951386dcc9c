"""Pools and clusters as JSON, for programs that have no TOML and need no scenario.

One object, whose keys are the arguments of the constructors:

=================== ===================================================================================
key                 value
=================== ===================================================================================
``demands``         list of rows, one per class, one number per resource
``capacities``      list of numbers: a pool; list of rows, one per server: a cluster
``weights``         optional list of numbers > 0, one per class
``limits``          pool only, optional list, one per class; null for no limit
``eligible``        cluster only, optional rows of true and false, classes x servers
``gamma``           cluster only, optional rows of numbers, classes x servers
``job_classes``     optional list of names; so are ``resources`` and, for a cluster, ``servers``
=================== ===================================================================================

Integers, and fractions written as text ("1/3"), are exact and stay so; numbers with a point are floats. An
unknown key is an error, never ignored, and so is a key that occurs twice.
"""

from __future__ import annotations

import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from fairness import Cluster, ModelError, Problem
from fairqueues.files import write_all
from fairqueues.scenario.source_text import near

__all__ = ["parse_problem", "read_problem", "write_problem"]

_NUMBERS = ("demands", "capacities", "weights", "limits", "gamma")
_NAMES = ("job_classes", "resources", "servers")
_BOTH = ("demands", "capacities", "weights", "job_classes", "resources")
_POOL, _CLUSTER = (*_BOTH, "limits"), (*_BOTH, "eligible", "gamma", "servers")


def read_problem(path: str | os.PathLike[str]) -> Problem | Cluster:
    """Read a pool or a cluster from a JSON file.

    Parameters
    ----------
    path : path-like
        A file in the format of the module docstring.

    Returns
    -------
    Problem or Cluster
        A cluster if ``capacities`` has rows.

    Raises
    ------
    ModelError
        One line that names the file and the key: if the file cannot be read or is no JSON, a key is missing,
        unknown or given twice, or the model is refused.
    """
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror or error}; give a JSON file") from None
    except UnicodeDecodeError as error:
        raise ModelError(f"{file}: byte {error.start} is not UTF-8 text; save the file as UTF-8") from None
    return parse_problem(text, str(file))


def parse_problem(text: str, name: str = "<text>") -> Problem | Cluster:
    """Pool or cluster from JSON text; ``name`` is what messages call it.

    Raises
    ------
    ModelError
        As :func:`read_problem`.

    Examples
    --------
    >>> parse_problem('{"demands": [["1/3", 1]], "capacities": [1, 2]}').as_fractions()
    ([[Fraction(1, 3), Fraction(1, 1)]], [Fraction(1, 1), Fraction(2, 1)])
    >>> parse_problem('{"demands": [[1]], "capacites": [1]}')
    Traceback (most recent call last):
    fairness.errors.ModelError: <text>: unknown key 'capacites'; did you mean 'capacities'?
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(items)
        if len(data) < len(items):
            keys = [key for key, _ in items]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ModelError(f"{name}: key {twice!r} is given twice; keep one of them")
        return data

    def constant(word: str) -> NoReturn:
        raise ModelError(f"{name}: {word} is no number of JSON; write null for a limit that is not there")

    try:
        data = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise ModelError(f"{name}, line {error.lineno}: no JSON: {error.msg}") from None
    except RecursionError:
        raise ModelError(f"{name}: nested too deeply; a matrix is a list of lists") from None
    if not isinstance(data, dict):
        raise ModelError(f'{name}: give one object, {{"demands": ..., "capacities": ...}}')
    known = tuple(dict.fromkeys((*_POOL, *_CLUSTER)))
    for key in data:
        if key not in known:
            raise ModelError(f"{name}: unknown key {key!r}; {near(key, known)}")
    for key in ("demands", "capacities"):
        if key not in data:
            raise ModelError(f"{name}: there is no key {key!r}; a problem needs demands and capacities")
    rows = data["capacities"]
    is_cluster = isinstance(rows, list) and any(isinstance(row, list) for row in rows)
    for key in data:
        if key not in (_CLUSTER if is_cluster else _POOL):
            kind = "a pool (capacities are numbers)" if not is_cluster else "a cluster (capacities are rows)"
            raise ModelError(f"{name}: {kind} has no {key!r}; leave it out")
    arguments = {key: _checked(name, key, value) for key, value in data.items() if value is not None}
    demands, capacities = (arguments.pop(key, None) for key in ("demands", "capacities"))
    if demands is None or capacities is None:
        raise ModelError(f"{name}: demands and capacities must be lists of numbers; got null")
    try:
        return (Cluster if is_cluster else Problem)(demands, capacities, **arguments)
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None


def _checked(name: str, key: str, value: Any) -> Any:
    """The value of a key with its entries converted; ModelError if an entry has no meaning there."""
    if isinstance(value, list):
        return [math.inf if v is None and key == "limits" else _checked(name, key, v) for v in value]
    if key in _NAMES:
        if isinstance(value, str):
            return value
        raise ModelError(f"{name}: {key} must be a list of names; got {json.dumps(value)}")
    if key == "eligible":
        if isinstance(value, bool):
            return value
        raise ModelError(f"{name}: eligible must be rows of true and false; got {json.dumps(value)}")
    if isinstance(value, str):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ModelError(f'{name}: {key} has {value!r}; write a number, or a fraction as "1/3"') from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"{name}: {key} has {json.dumps(value)}; write numbers")
    return value


def write_problem(problem: Problem | Cluster, path: str | os.PathLike[str]) -> None:
    """Write a pool or a cluster as JSON, so that :func:`read_problem` gives it back; whole or not at all.

    Parameters
    ----------
    problem : Problem or Cluster
        What was given as integers and fractions (demands, capacities and gamma, all of them) stays exact.
    path : path-like

    Raises
    ------
    ModelError
        If it is neither.
    fairqueues.errors.OutputError
        If the file cannot be written.
    """
    if not isinstance(problem, (Problem, Cluster)):
        raise ModelError(f"problem must be a Problem or a Cluster; got {type(problem).__name__}")
    demands, capacities = problem.demands.tolist(), problem.capacities.tolist()
    if problem.is_rational:
        demands, capacities = problem.as_fractions()[:2]
    data: dict[str, Any] = {
        "demands": demands,
        "capacities": capacities,
        "weights": problem.weights.tolist(),
        "job_classes": problem.job_classes,
        "resources": problem.resources,
    }
    if isinstance(problem, Problem):
        if any(math.isfinite(limit) for limit in problem.limits):
            data["limits"] = [limit if math.isfinite(limit) else None for limit in problem.limits.tolist()]
    else:
        data["servers"] = problem.servers
        if problem.given_eligible is not None:
            data["eligible"] = problem.given_eligible.tolist()
        if problem.given_gamma is not None:
            data["gamma"] = problem.given_gamma
    rows = (f'  "{key}": {json.dumps(data[key], default=_plain, ensure_ascii=False)}' for key in data)
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    write_all({Path(path): lambda aside: _write(aside, text)})


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _plain(value: Any) -> Any:
    """What JSON has no word for: fractions, whole or as text, and arrays, as lists."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    return value.tolist()

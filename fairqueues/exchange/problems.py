"""Pools and clusters as JSON, for programs that have no TOML and need no scenario.

One object, whose keys are the arguments of the constructors (:mod:`fairness.arguments.plain`); a key that
occurs twice is an error.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from fairness import Cluster, ModelError, Problem
from fairness.files import text_of
from fairness.model.data import model_from_dict
from fairqueues.files import write_all
from fairqueues.json_text import json_data

__all__ = ["parse_problem", "read_problem", "write_problem"]


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
    return parse_problem(text_of(file, "give a JSON file"), str(file))


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
    fairness.errors.ModelError: <text>: a pool (capacities are numbers) has no 'capacites'; did you mean ...
    """
    data = json_data(text, name, deep="a matrix is a list of lists")
    try:
        return model_from_dict(data)
    except ModelError as error:
        raise ModelError(f"{name}: {error}", argument=error.argument, index=error.index) from None


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
        raise ModelError.of("problem", f"must be a Problem or a Cluster; got {type(problem).__name__}")
    rows = (
        f'  "{key}": {json.dumps(values, ensure_ascii=False)}' for key, values in problem.to_dict().items()
    )
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    write_all({Path(path): lambda aside: aside.write_text(text, encoding="utf-8")})

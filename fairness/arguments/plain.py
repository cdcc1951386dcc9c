"""Models as plain data, for JSON and TOML: a dict whose keys are the arguments of the constructor.

=================== ===================================================================================
key                 value
=================== ===================================================================================
``demands``         list of rows, one per class, one number per resource
``capacities``      list of numbers: a pool; list of rows, one per server: a cluster
``weights``         optional list of numbers > 0, one per class
``limits``          pool only, optional list, one per class; None (null in JSON) for no limit
``eligible``        cluster only, optional rows of true and false, classes x servers
``gamma``           cluster only, optional rows of numbers, classes x servers
``job_classes``     optional list of names; so are ``resources`` and, for a cluster, ``servers``
=================== ===================================================================================

Integers, and fractions written as text ("1/3"), are exact and stay so; numbers with a point are floats.
"""

from __future__ import annotations

import difflib
import inspect
import json
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.arguments.quantities import fraction
from fairness.errors import ModelError

__all__ = ["arguments_of", "near", "plain"]

NAMES = ("job_classes", "resources", "servers")
_TOLD = 12
"""Names that a message lists."""


def plain(values: Any) -> Any:
    """Numbers, booleans or names in nested lists, tuples or arrays as plain data.

    Examples
    --------
    >>> plain([[Fraction(1, 3), Fraction(2)], np.array([0.5, np.inf])])
    [['1/3', 2], [0.5, None]]
    """
    if hasattr(values, "toarray"):  # of scipy.sparse
        values = values.toarray()
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return [plain(value) for value in values]
    if isinstance(values, Fraction):
        return values.numerator if values.denominator == 1 else str(values)
    return None if values == math.inf else values


def arguments_of(kind: type, what: str, data: Any) -> dict[str, Any]:
    """Arguments of a constructor from plain data; those that are None are left out.

    Parameters
    ----------
    kind : type
        The keys are the parameters of its constructor.
    what : str
        How messages call it, such as "a pool".
    data : mapping

    Raises
    ------
    ModelError
        If this is no mapping, a key is unknown or missing, or an entry has no meaning there.
    """
    if not isinstance(data, Mapping):
        raise ModelError('give one object, {"demands": ..., "capacities": ...}')
    parameters = inspect.signature(kind).parameters
    for key in data:
        if key not in parameters:
            raise ModelError(f"{what} has no {key!r}; {near(str(key), parameters)}", argument=str(key))
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and data.get(key) is None:
            why = "got null" if key in data else f"there is no key {key!r}"
            raise ModelError(f"{what} needs demands and capacities, lists of numbers; {why}", argument=key)
    return {key: _entries(key, value, ()) for key, value in data.items() if value is not None}


def _entries(key: str, value: Any, index: tuple[int, ...]) -> Any:
    """The value of a key with its entries converted; ModelError if an entry has no meaning there."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list | tuple):
        return [_entries(key, v, (*index, k)) for k, v in enumerate(value)]
    if key == "limits" and value is None and index:
        return math.inf
    if key in NAMES:
        if not isinstance(value, str):
            raise ModelError.of(key, f"must be a list of names; got {_json(value)}", *index)
    elif key == "eligible":
        if not isinstance(value, bool):
            raise ModelError.of(key, f"must be rows of true and false; got {_json(value)}", *index)
    elif isinstance(value, str):
        try:
            return fraction(value)
        except (ValueError, ZeroDivisionError):
            said = f'has {value!r:.80}; write a number, or a fraction as "1/3"'
            raise ModelError.of(key, said, *index) from None
    elif isinstance(value, bool) or not isinstance(value, int | float | Fraction | np.number):
        raise ModelError.of(key, f"has {_json(value)}; write numbers", *index)
    return value


def _json(value: Any) -> str:
    return json.dumps(value, default=repr)


def near(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """The end of a message about an unknown name: the nearest known one, or all if none is near.

    ``otherwise`` is said instead of them all.

    Examples
    --------
    >>> near("capacites", ["demands", "capacities"])
    "did you mean 'capacities'?"
    """
    names = list(dict.fromkeys(known))
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if found:
        return f"did you mean {found[0]!r}?"
    if otherwise is not None:
        return otherwise
    return f"known are {', '.join(names[:_TOLD])}{', ...' if len(names) > _TOLD else ''}"

"""The functions that claims name, and the plain data that they take and give.

A definition may stand here twice: a second function of the same name, written apart from the first and by
another way (:func:`define_again`). Checking then runs both, and what they disagree on is no evidence. What
only compares the values of such definitions is written once and run on both (:func:`define_on_both`).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar, overload

from proofs.errors import ProofError

__all__ = [
    "Case",
    "Second",
    "define",
    "define_again",
    "define_on_both",
    "definition",
    "fraction",
    "fractions",
    "is_of_papers",
    "names_in",
    "plain",
    "second_definition",
    "second_method",
]

Case = tuple[Any, bool]
"""What enumerations and searches give: a case, and whether it has the property."""

F = TypeVar("F", bound=Callable[..., Any])

BY_LIBRARY = {
    "asset_tasks": "The library's asset fairness, proved in fractions",
    "balanced_bound": "The duration bound of the library; the fractions next to its floats",
    "balanced_durations": "Balanced fairness of the library in floating point, whatever the total",
    "balanced_service": "Balanced fairness of the library in floating point, whatever the total",
    "bmf_path_end": "BMF of the library, by a cap on dominant shares; the fractions next to its floats",
    "bmf_vertices": "All BMF allocations by the library, in fractions",
    "capacity_corners": "Vertices of the stability region of the library, in fractions",
    "ceei_tasks": "The library's proportional fairness, which is CEEI, read as fractions",
    "cluster_gammas": "The model of a cluster",
    "dcdrf_tasks": "DC-DRF of fairness.cloud",
    "dominant_resources": "The library's task shares",
    "drf_tasks": "Progressive filling of the library, in fractions",
    "edrf_tasks": "Event-driven extended DRF of fairness.cloud",
    "exchanged": "The library's exchange",
    "fluid_drift": "The drift of the library; the fractions next to its floats",
    "leximin_tasks": "The policies TSF and C-DRFH, and their exact placements",
    "minmax_bundles": "SequentialMinMax of fairness.indivisible, in exact arithmetic",
    "mmf_tasks": "Progressive filling of the library, in fractions",
    "pf_tasks": "Proportional fairness of the library, its own prices; the fractions next to its floats",
    "psdsf_tasks": "The policy PSDSF, its exact placement, and the certificate of the given one",
    "tdrf_tasks": "The library's TDRF, read as fractions",
    "whole_task_order": "The library's task-by-task filling",
}
"""How the library computes the values of functions; the prover compares, and the checker cannot."""

HERE = Path(__file__).resolve().parent

MOST_DIGITS = 4_000
LARGEST = 10**MOST_DIGITS

_FUNCTIONS: dict[str, Callable[..., Any]] = {}
_AGAIN: dict[str, Second] = {}
_ON_BOTH: set[str] = set()


@dataclass(frozen=True)
class Second:
    """A second definition; of an enumeration the number of cases by its count, or whether it gives them."""

    function: Callable[..., Any]
    cases: Callable[..., int] | None = None
    gives: bool = False


def define(function: F) -> F:
    """Make a function known under its name; decorator.

    Raises
    ------
    ProofError
        If another function has the name. Your own may be defined anew; those of the papers may not.
    """
    name = function.__name__
    if not _is_built_in(function):
        _load()  # so that no name of the papers is taken before it is known
    known = _FUNCTIONS.get(name)
    if known is not None and (_is_built_in(known) or known.__module__ != function.__module__):
        place = known.__module__ or "code without a module"
        raise ProofError(f"two functions are called {name!r}: in {place} and here; give yours another name")
    _FUNCTIONS[name] = function
    return function


def define_on_both(function: F) -> F:
    """Define a function of this package that compares what other definitions give; decorator.

    It is written once. Its second definition is the same code, in which the names of functions that stand
    twice mean their second definitions: so what is compared is confirmed, and the comparison is not. Of an
    enumeration or a search both give the same cases one by one.

    Raises
    ------
    ProofError
        If the function is of no file of this package: your own is defined a second time by
        :func:`define_again`.
    """
    if not _is_built_in(function):
        raise ProofError("only definitions of the papers are run on both; define yours again instead")
    define(function)
    _ON_BOTH.add(function.__name__)
    return function


@overload
def define_again(function: F) -> F: ...
@overload
def define_again(*, cases: Callable[..., int]) -> Callable[[F], F]: ...
def define_again(function: Any = None, *, cases: Callable[..., int] | None = None) -> Any:
    """Define a function a second time, apart from the first and by another way; decorator.

    For computations and counterexamples it takes the same arguments and gives the same value; the dict of a
    counterexample may leave out what only the first tells. For enumerations and searches it judges one case:
    it takes the plain data of the case, then the arguments by name, and says whether the case has the
    property.

    Parameters
    ----------
    cases : callable, optional
        Takes the arguments of an enumeration by name and gives the number of its cases, by another count.

    Raises
    ------
    ProofError
        If the name has a second definition already, or another module than the first's own tries.

    Examples
    --------
    >>> @define
    ... def triangular(n):
    ...     return sum(range(n + 1))
    >>> @define_again
    ... def triangular(n):
    ...     return n * (n + 1) // 2
    """

    def decorate(function: F) -> F:
        name = function.__name__
        if not _is_built_in(function):
            _load()
            first = _FUNCTIONS.get(name)
            if first is None or _is_built_in(first) or first.__module__ != function.__module__:
                raise ProofError(f"no function {name!r} of this module is defined a first time")
        elif name in _AGAIN or name in _ON_BOTH:
            raise ProofError(f"{name!r} is defined more than twice")
        _AGAIN[name] = Second(function, cases)
        return function

    return decorate if function is None else decorate(function)


def definition(name: str) -> Callable[..., Any]:
    """The function of that name."""
    if name not in _FUNCTIONS:
        _load()
    if name not in _FUNCTIONS:
        raise ProofError(f"no definition is called {name!r}")
    return _FUNCTIONS[name]


def second_definition(name: str) -> Second | None:
    """The second definition of that name, if there is one."""
    _load()
    return Second(_on_second(definition(name)), gives=True) if name in _ON_BOTH else _AGAIN.get(name)


def _on_second(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same code, which calls the second definitions of what it calls by name."""
    scope, twice = function.__globals__, dict[str, Any]()
    for name in names_in(function.__code__):
        known = scope.get(name)
        if known is not None and known is _FUNCTIONS.get(name) and (again := second_definition(name)):
            twice[name] = again.function
    if not twice:
        raise ProofError(f"{function.__name__!r} itself calls nothing that stands twice")
    return FunctionType(function.__code__, scope | twice, argdefs=function.__defaults__)


def names_in(code: CodeType) -> set[str]:
    """Names that compiled code, and the code within it, looks up outside."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(names_in, inner))


def second_method(name: str) -> str:
    """What confirms values of that name beside the first definition: "definition", "library" or "none"."""
    if second_definition(name) is not None:
        return "definition"
    return "library" if name in BY_LIBRARY and is_of_papers(name) else "none"


def is_of_papers(name: str) -> bool:
    """Whether the function of that name stands in a file of this package, and is not one's own."""
    return _is_built_in(definition(name))


def _is_built_in(function: Callable[..., Any]) -> bool:
    """Whether a function stands in a file of this package, whatever it says of itself."""
    code = getattr(function, "__code__", None)
    return code is not None and HERE in Path(code.co_filename).resolve().parents


@cache
def _load() -> None:
    """Import all modules of this package, which define the functions and define some of them again."""
    for found in pkgutil.walk_packages([str(HERE)], "proofs.definitions."):
        importlib.import_module(found.name)


def plain(value: Any) -> Any:
    """Data as JSON has it: fractions as "3/4" (whole ones as integers), tuples as lists, keys as text.

    Raises
    ------
    ProofError
        If something is no such data, a subclass of it, or a number that is too long for a text.
    """
    kind = type(value)
    if kind is int or kind is Fraction:
        if abs(value.numerator) > LARGEST or value.denominator > LARGEST:
            raise ProofError(f"a number of more than {MOST_DIGITS:,} digits has no place in exact evidence")
        return value.numerator if value.denominator == 1 else str(value)
    if value is None or kind is str or kind is bool:
        return value
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    raise ProofError(f"{value!r} of type {type(value).__name__} has no place in exact evidence")


def fraction(value: Any) -> Fraction:
    """An int, a Fraction or "3/4" as Fraction; nothing that is made from them.

    Raises
    ------
    ProofError
        If it is something else, such as a float.
    """
    if type(value) is Fraction:
        return value
    if type(value) not in (int, str):
        raise ProofError(f"exact arithmetic takes integers and fractions; got {value!r}")
    try:
        if type(value) is str and "e" in value.lower():  # 1e999999999 would be written out
            raise ValueError(value)
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise ProofError(f"{value!r} is no fraction") from None


def fractions(values: Any) -> Any:
    """Nested lists of such numbers, with the same shape."""
    return [fractions(v) for v in values] if isinstance(values, list | tuple) else fraction(values)

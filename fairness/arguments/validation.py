"""Checks that every constructor makes of its arguments; each message names argument, place and remedy."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import as_named
from fairness.display.lettering import unprintable
from fairness.errors import ModelError

__all__ = [
    "A_GENERATOR",
    "Entropy",
    "FloatArray",
    "IntArray",
    "Seed",
    "checked_names",
    "entropy_of",
    "float_array",
    "frozen",
    "generator",
    "model_array",
    "rationals",
    "refuse_foreign",
    "require",
    "require_choice",
    "require_flag",
    "require_number",
    "require_shape",
    "require_whole",
    "require_workers",
    "spawned",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Seed = (
    int
    | Sequence[int]
    | np.random.SeedSequence
    | np.random.BitGenerator
    | np.random.Generator
    | np.random.RandomState
    | None
)
Entropy = int | list[int] | str
"""What :func:`entropy_of` gives."""
A_GENERATOR = "a generator"
"""Entropy of a generator that no seed makes again: one already used, spawned from another, or not numpy's."""
LARGEST = 2**63 - 1
"""Largest whole number that an argument may be: what counters hold."""
MOST_WORKERS = 10_000
_Array = TypeVar("_Array", bound=NDArray[Any])


def float_array(name: str, values: ArrayLike, ndim: int | None = None) -> FloatArray:
    """Copy of the values as floats in C order; ModelError, naming the argument, unless all are numbers."""
    refuse_foreign(name, values)
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"got entries of type {given.dtype}")
        if given.dtype.kind == "O" and any(issubclass(kind, (str, bytes)) for kind in _kinds(given)):
            raise TypeError("got a string among them")
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        place, found = _misfit(values) or ((), str(error))
        said = f"must be an array of numbers with rows of equal length: {found}"
        raise ModelError.of(name, said, *place) from None
    if ndim is not None and array.ndim != ndim:
        raise ModelError.of(name, f"must have {ndim} dimension{'s'[: ndim - 1]}; got shape {array.shape}")
    return array


def _misfit(values: Any) -> tuple[tuple[int, ...], str] | None:
    """The first entry of a list or table that is no number, or row of another length, and what it is."""

    def several(one: Any) -> bool:
        return isinstance(one, list | tuple) or (isinstance(one, np.ndarray) and one.ndim > 0)

    for k, row in enumerate(values if several(values) else ()):
        entries = [((k, j), v) for j, v in enumerate(row)] if several(row) else [((k,), row)]
        for place, v in entries:
            if not isinstance(v, numbers.Number | np.bool_ | list | tuple | np.ndarray):
                return place, f"got {v!r:.40} at index {place if len(place) > 1 else k}"
        if several(row) != several(values[0]):
            kinds = ("a number", "a row") if several(row) else ("a row", "a number")
            return (k,), f"entry 0 is {kinds[0]}, entry {k} {kinds[1]}"
        if several(row) and len(row) != len(values[0]):
            return (k,), f"row {k} has {len(row)}, row 0 {len(values[0])}"
    return None


def refuse_foreign(name: str, values: Any) -> None:
    """Refuse what numpy would read as numbers, but is none: masked entries and bytes."""
    if type(values) is np.ndarray and values.dtype.kind != "O":
        return
    if isinstance(values, Mapping):
        raise ModelError.of(
            name,
            f"must be an array of numbers; got a {type(values).__name__}; pass "
            "pd.Series(...) of it, which is read by its labels",
        )
    rows = values if isinstance(values, (list, tuple)) else ()
    nested = chain.from_iterable(row for row in rows if isinstance(row, (list, tuple)))
    kinds = {type(values), *map(type, rows), *map(type, nested)}
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        raise ModelError.of(
            name, f"is a masked array, or holds one; fill it first, for example {name}.filled(0)"
        )
    if any(issubclass(kind, (bytes, bytearray, memoryview)) for kind in kinds):
        raise ModelError.of(
            name, "must be an array of numbers; got bytes, which may be read by np.frombuffer"
        )


def model_array(name: str, values: ArrayLike, model: Any, *axes: str) -> FloatArray:
    """As :func:`float_array`; labels of the last dimensions are put into the order of the model's names.

    ``axes`` are "job_classes", "servers" or "resources".
    """
    return float_array(name, as_named(name, values, model, *axes))


def require_shape(
    name: str,
    array: FloatArray,
    shape: tuple[int, ...],
    other: str,
    reference: FloatArray | tuple[int, ...],
) -> None:
    """Refuse an array whose shape does not follow from that of the argument called ``other``."""
    if array.shape != shape:
        known = getattr(reference, "shape", reference)
        raise ModelError(
            f"{other} has shape {known}, so {name} must have shape {shape}; got {array.shape}",
            argument=name,
        )


def require(
    name: str, array: FloatArray, good: NDArray[np.bool_], rule: str, *labels: tuple[str, ...]
) -> None:
    """Refuse an array unless all entries are good; the message names the first bad one, by labels if any."""
    if good.all():
        return
    place = tuple(int(k) for k in np.argwhere(~good)[0])
    names = ", ".join(f"{label[k]!r}" for label, k in zip(labels, place, strict=False))
    where = f"index {place} ({names})" if names else f"index {place}"
    raise ModelError.of(name, f"must be {rule}; got {array[place]} at {where}", *place)


def require_whole(name: str, value: Any, least: int, most: int | None = None, hint: str = "") -> int:
    """The value as an int; refuse what is no whole number from ``least`` (to ``most``)."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        rule = f">= {least}" if most is None else f"from {least} to {most}"
        raise ModelError.of(name, f"must be a whole number {rule}{hint}; got {_brief(value)}")
    if value > LARGEST:
        raise ModelError.of(name, f"must be a whole number <= 2**63 - 1{hint}; got {_brief(value)}")
    return int(value)


def require_choice(name: str, value: str, choices: Collection[str]) -> str:
    """The value; refuse what is none of the choices."""
    # A text first: a list cannot be looked up among keys.
    if not isinstance(value, str) or value not in choices:
        raise ModelError.of(name, f"must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def require_flag(name: str, value: Any) -> bool:
    """The value as a bool; refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ModelError.of(name, f"must be True or False; got {_brief(value)}")
    return bool(value)


def require_workers(n_jobs: Any) -> int:
    """Number of workers as an int; refuse what is neither a whole number >= 1 nor -1 for all cores."""
    good = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if not good or (n_jobs != -1 and not 1 <= n_jobs <= MOST_WORKERS):
        raise ModelError.of(
            "n_jobs",
            f"counts workers: a positive integer (at most {MOST_WORKERS}), or -1 for all cores; got "
            f"{_brief(n_jobs)}",
        )
    return int(n_jobs)


def require_number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    hint: str = "",
) -> float:
    """The value as a float; refuse what is no finite real number from ``least`` or beyond ``above``.

    Strings, booleans, arrays and NaN are refused; infinity, too, unless ``most`` is infinite.
    """
    good = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    shown = ""
    try:
        number = float(value) if good else math.nan
    except OverflowError:  # an integer or a fraction beyond the floats
        number, shown = math.nan, "a number too large for floats"
    good = math.isfinite(number) or (number == most == math.inf)
    rules = (
        (">= ", least, operator.ge),
        ("> ", above, operator.gt),
        ("<= ", most, operator.le),
        ("< ", below, operator.lt),
    )
    said = [(sign, bound, holds) for sign, bound, holds in rules if bound is not None and bound != math.inf]
    if not good or not all(holds(value, bound) for _, bound, holds in said):
        kind = "number" if most == math.inf else "finite number"
        rule = " and ".join(f"{sign}{bound:g}" for sign, bound, _ in said)
        if above is not None and below is not None:
            kind, rule = "number", f"between {above:g} and {below:g}"
        raise ModelError.of(
            name, f"must be a {kind}{' ' * bool(rule)}{rule}{hint}; got {shown or repr(value)}"
        )
    return number


def generator(rng: Seed, name: str = "rng") -> np.random.Generator:
    """Generator from None, a whole number >= 0 or several, or one of numpy's own; as ``default_rng``.

    Raises
    ------
    ModelError
        If rng is anything else: ``default_rng`` reads a matrix until the process dies.
    """
    made = (np.random.SeedSequence, np.random.BitGenerator, np.random.Generator, np.random.RandomState)
    if rng is None or isinstance(rng, made):
        return np.random.default_rng(rng)
    several = isinstance(rng, Sequence) and not isinstance(rng, (str, bytes, bytearray))
    if type(rng) is np.ndarray:  # neither a matrix nor a masked array
        several = rng.ndim == 1 and rng.dtype.kind in "iuO"
    values: list[Any] = list(rng) if several else [rng]  # type: ignore[arg-type]
    whole = all(isinstance(v, numbers.Integral) and not isinstance(v, bool) and int(v) >= 0 for v in values)
    if not whole:
        raise ModelError.of(
            name,
            f"must be None, a seed or a numpy Generator; a seed is a whole number >= 0, or a list of "
            f"such, for example {name}=1; got {_brief(rng)}",
        )
    seeds = [int(v) for v in values]
    return np.random.default_rng(seeds if several else seeds[0])


def entropy_of(stream: np.random.Generator) -> Entropy:
    """Seed that makes this generator again, for a result to report; ask before the first draw.

    Returns
    -------
    int or list of int, or :data:`A_GENERATOR` if it is not as a seed leaves it

    Examples
    --------
    >>> stream = generator(3)
    >>> entropy_of(stream), float(stream.random()) < 1, entropy_of(stream)
    (3, True, 'a generator')
    """
    source = stream.bit_generator
    seeds = getattr(source, "seed_seq", None)
    if not isinstance(seeds, np.random.SeedSequence) or seeds.n_children_spawned > 0:
        return A_GENERATOR
    try:
        anew = generator(seeds.entropy).bit_generator
    except ModelError:  # numpy reads more as entropy than is a seed here
        return A_GENERATOR
    # Equal states of equal kinds: neither drawn from, nor spawned, nor of another pool.
    if type(source) is not type(anew) or source.state != anew.state:
        return A_GENERATOR
    entropy: Any = seeds.entropy
    return int(entropy) if isinstance(entropy, numbers.Integral) else [int(word) for word in entropy]


def spawned(rng: Seed, count: int, name: str = "rng") -> list[np.random.Generator]:
    """Independent generators, children of that which :func:`generator` makes.

    Raises
    ------
    ModelError
        As :func:`generator`; also if it cannot spawn: no SeedSequence stands behind it.
    """
    parent = generator(rng, name)
    try:
        return parent.spawn(count)
    except (TypeError, AttributeError):
        raise ModelError.of(
            name,
            f"must be None, a seed or a numpy Generator that can spawn, for example {name}=1; "
            f"got {_brief(rng)}, which was made without a SeedSequence",
        ) from None


def _brief(value: Any) -> str:
    """What a message shows of a value that may be large."""
    if isinstance(value, np.ndarray):
        return f"a {type(value).__name__} of shape {value.shape} and type {value.dtype}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def checked_names(argument: str, names: Sequence[str] | None, count: int, stem: str) -> tuple[str, ...]:
    """Distinct names, by default "stem 1", "stem 2", ..."""
    if names is None:
        return tuple(f"{stem} {k + 1}" for k in range(count))
    if isinstance(names, str):
        raise ModelError.of(argument, f"must be a sequence of {count} names; got the single string {names!r}")
    if isinstance(names, Set) or not isinstance(names, Iterable):
        raise ModelError.of(argument, f"must be a sequence of {count} names; got {names!r}")
    result = tuple(str(name) for name in names)
    if len(result) != count:
        raise ModelError.of(argument, f"must list {count} names, one per {stem}; got {len(result)}")
    for name in result:
        if not name.isprintable() and (signs := unprintable(name)):
            raise ModelError.of(
                argument, f": {name!r} has the character {signs[0]!r}, which cannot be shown; leave it out"
            )
    doubled = sorted({name for name in result if result.count(name) > 1}) if len(set(result)) < count else []
    if doubled:
        raise ModelError.of(argument, f"must be distinct; {doubled[0]!r} occurs more than once")
    return result


def frozen(array: _Array) -> _Array:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


def rationals(values: Any) -> Any:
    """Return the values as nested lists if all are integers or fractions, else None."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.tolist()
    if array.dtype.kind != "O":
        return None
    return array.tolist() if all(issubclass(kind, numbers.Rational) for kind in _kinds(array)) else None


def _kinds(array: NDArray[Any]) -> set[type]:
    """Types of the entries: to ask each entry what it is takes long."""
    return set(map(type, array.flat))

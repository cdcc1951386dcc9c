"""From the options of a command to a scenario (also one that is shipped), its policies and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairqueues.errors import WrongUse
from fairqueues.scenario.shipped import examples

if TYPE_CHECKING:
    from fairqueues.scenario import Scenario

__all__ = [
    "chain_options",
    "chosen",
    "example",
    "examples",
    "labelled",
    "loaded",
    "method_name",
    "numbers",
    "read",
    "setting",
    "settings",
    "sourced",
    "told_apart",
]


def example(name: str) -> Traversable | None:
    """File of the shipped scenario of that name, with or without ".toml"; None if there is none."""
    return examples().get(name.removesuffix(".toml"))


def read(file: Path) -> Scenario:
    """The scenario of a file, or of the shipped example of that name; ScenarioError if it is wrong."""
    from fairqueues.scenario import Scenario

    if str(file) == "-":
        return Scenario.parse(_standard_input(), "<standard input>")
    try:
        exists = file.exists()
    except OSError as error:  # a name that is too long, say
        raise WrongUse(f"{str(file)[:40]}...: {error.strerror}; give the path of a scenario file") from None
    found = file if exists else example(str(file))
    if found is None:
        from fairness.arguments.plain import near

        told = f"{file} is no file, and no shipped scenario (fairqueues examples lists them)"
        raise WrongUse("; ".join(filter(None, [told, near(str(file), examples(), "")])))
    return Scenario.read(found)


def _standard_input() -> str:
    """Text of a scenario that another command writes."""
    import sys

    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongUse(f"standard input: byte {error.start} is not UTF-8 text; give TOML or JSON") from None


def loaded(scenario: Scenario, load: float | None) -> Any:
    """The system of a scenario, at this load instead of its own if one is given; it is stable."""
    if load is None:
        return scenario.stable_system
    system = scenario.system.at_load(load)
    system.require_stable()
    return system


def chosen(scenario: Scenario, names: list[str] | None) -> dict[str, Any]:
    """Policies by the names that tables show: those of the options, else those of the file."""
    # Python files that an option names are in the current folder, those that a scenario names beside it.
    if names:
        return labelled([scenario.policy_named(name, Path()) for name in names], names)
    return labelled(scenario.policies, scenario.document.policies)


def labelled(methods: Sequence[Any], specs: Sequence[Any]) -> dict[str, Any]:
    """Policies, "balanced" and "bound" by the names that tables show; WrongUse for none, or one twice.

    ``specs`` say how each of them was written, as for :func:`told_apart`.
    """
    from fairness.protocol.policy import policy_name

    if not methods:
        raise WrongUse("no policy is given; add policies = [...] to the file or --policy NAME")
    names = [policy_name(method) if callable(method) else _called(method) for method in methods]
    return dict(zip(told_apart(names, specs), methods, strict=True))


def told_apart(names: Sequence[str], specs: Sequence[Any]) -> list[str]:
    """Names of which no two are alike: own policies that share one are called as they were written.

    Examples
    --------
    >>> told_apart(["DRF", "first", "first"], ["drf", "a.py:first", "b.py:first"])
    ['DRF', 'a.py:first', 'b.py:first']
    """
    from fairqueues.scenario.names import full_name

    found: list[str] = []
    for name, spec in zip(names, specs, strict=True):
        found.append(full_name(spec) or name if names.count(name) > 1 else name)
        if found[-1] in found[:-1]:
            raise WrongUse(f"the policy {found[-1]} is given twice; name each one once")
    return found


def _called(method: Any) -> str:
    from capacity.means.words import method_label

    return method_label(method)


def method_name(method: Any) -> str:
    """What tables call a method of service rates."""
    from capacity import Simulated
    from fairness.protocol.policy import policy_name

    if isinstance(method, str):
        return method
    simulated = isinstance(method, Simulated)
    return f"{policy_name(method.policy)}, simulated" if simulated else policy_name(method)


def numbers(option: str, text: str | None, n: int, otherwise: Any = None) -> Any:
    """Numbers of a text such as "3,1"; without one what is to be had ``otherwise``.

    Examples
    --------
    >>> numbers("--start", "3,1", 2)
    [3.0, 1.0]
    """
    if text is None:
        return otherwise
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise WrongUse(f"{option} must be numbers with commas between, such as 3,1; got {text!r}") from None
    if len(values) != n:
        raise WrongUse(f"{option} must give one number for each of the {n} classes; got {text!r}")
    return values


def setting(scenario: Scenario | None, section: str, key: str, given: Any, default: Any = None) -> Any:
    """What an option gives, else the key of a table that the file has, else the default."""
    if given is None and scenario is not None and scenario.has(section):
        given = getattr(scenario.section(section), key)
    return default if given is None else given


def settings(scenario: Scenario, section: str, keys: Sequence[str], **given: Any) -> dict[str, Any]:
    """Keys of a table as arguments, or what is given instead; those without a value are left out."""
    table = {key: getattr(scenario.section(section), key) for key in keys}
    table |= {key: value for key, value in given.items() if value is not None}
    return {key: value for key, value in table.items() if value is not None}


@contextmanager
def sourced(scenario: Scenario, section: str, **given: Any) -> Iterator[None]:
    """Errors about what :func:`settings` took name the option that gave it, or the key of the file."""
    from fairness.errors import ModelError

    try:
        yield
    except ModelError as error:
        name = error.argument or ""
        if given.get(name) is not None:
            raise WrongUse(f"--{name.replace('_', '-')}{str(error).removeprefix(name)}") from None
        if name not in scenario.section(section).model_fields_set:
            raise
        raise scenario.error((section, name), str(error)) from None


def chain_options(scenario: Scenario, **given: Any) -> dict[str, Any]:
    """Settings of [chain], or what is given instead, as arguments of :func:`queueing.stationary`."""
    from queueing import Automatic, Elimination, Multilevel, Product

    solvers = {"auto": Automatic, "product": Product, "elimination": Elimination, "multilevel": Multilevel}
    options = settings(scenario, "chain", ("shape", "tail", "max_states"), **given)
    return options | {"solver": solvers[scenario.section("chain").solver]()}

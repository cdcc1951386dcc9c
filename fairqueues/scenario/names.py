"""Names of policies, laws, arrivals, placements and schedulers, as scenario files and commands write them.

A name is a text with its parameters behind colons, ``"alpha:2"``, ``"psdsf:time"``, ``"erlang:4"``, or a
table that gives them by name, ``{ policy = "tdrf", join_times = [3, 8] }``. Upper and lower case are alike,
and so are spaces, hyphens and underscores. Each name leads to a public object of the packages below; what the
parameters may be is decided there. ``"mine.py:priority"`` leads to a policy of one's own
(:mod:`fairqueues.scenario.python_files`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from fairness.arguments.plain import near, plain
from fairness.catalogue import CATALOGUE, CLUSTER_CATALOGUE, FURTHER, Entry
from fairness.errors import ModelError
from fairqueues.scenario.python_files import own_policy

__all__ = [
    "ARRIVALS",
    "LAWS",
    "ORDERS",
    "PLACEMENTS",
    "POLICIES",
    "SCHEDULERS",
    "Named",
    "arrivals_named",
    "arrivals_spec",
    "full_name",
    "law_named",
    "law_spec",
    "placement_named",
    "policies_for",
    "policy_named",
    "policy_spec",
    "scheduler_named",
    "split_name",
]


@dataclass(frozen=True)
class Named:
    """Where the object of a name comes from.

    Attributes
    ----------
    origin : str
        "module:attribute" of a class or function.
    given : tuple of str, optional
        What may be given, in the order of the text form; None for all that the class or function takes.
    fixed : dict
        Arguments that belong to the name.
    about : str
        One line for help texts.
    servers : bool
        Whether a policy is for servers, and not for one pool.
    on_tree : bool
        Whether it shares among the queues of a tree; ``fixed`` names the policy that it carries there.
    """

    origin: str
    given: tuple[str, ...] | None = ()
    fixed: dict[str, Any] = field(default_factory=dict)
    about: str = ""
    servers: bool = False
    on_tree: bool = False

    @property
    def kind(self) -> Any:
        """The class or function."""
        module, _, attribute = self.origin.partition(":")
        thing: Any = import_module(module)
        for part in attribute.split("."):
            thing = getattr(thing, part)
        return thing

    @property
    def parameters(self) -> tuple[str, ...]:
        """What may be given, in the order of the text form."""
        return tuple(signature(self.kind).parameters) if self.given is None else self.given

    @property
    def required(self) -> list[str]:
        """Those of them that must be given."""
        known = signature(self.kind).parameters
        return [k for k in self.parameters if known[k].default is Parameter.empty and k not in self.fixed]


_CATALOGUES: dict[bool, Sequence[Entry]] = {False: (*CATALOGUE, *FURTHER), True: CLUSTER_CATALOGUE}
_CARRIERS: dict[bool, tuple[str, tuple[str, ...]]] = {
    False: ("fairness:Hierarchical", ("measure", "naive")),
    True: ("fairness:HierarchicalPlacement", ("naive",)),
}
"""What carries a policy to the queues of a tree, of one pool and of servers."""

ORDERS: dict[str, Named] = {
    "fcfs": Named("queueing:FCFS", None, about="whole jobs wait in order of arrival, fcfs:LOOKAHEAD"),
    "server-filling": Named("queueing:ServerFilling", about="of the oldest jobs the widest run"),
    "max-weight": Named("queueing:MaxWeight", about="whole jobs by the number that is there"),
    "priorities": Named("queueing:Priorities", None, about="whole jobs by class, priorities:most"),
    "easy": Named("queueing:EASY", None, about="backfilling by estimates of how long jobs run"),
}
"""Orders of whole jobs, which stand where policies do."""

POLICIES: dict[str, Named] = (
    {
        one.word: Named(one.place, None, about=one.about, servers=servers)
        for servers, entries in _CATALOGUES.items()
        for one in entries
        if one.word
    }
    | {
        one.on_tree: Named(
            *_CARRIERS[servers], {"policy": one.word}, f"{one.about}, on the queues of a tree", servers, True
        )
        for servers, entries in _CATALOGUES.items()
        for one in entries
        if one.on_tree
    }
    | ORDERS
)
"""Policies for one pool, for servers, and for the queues of a tree; orders of whole jobs."""


def policies_for(cluster: bool | None, on_trees: bool, *, orders: bool = True) -> dict[str, Named]:
    """Policies for servers (True), for one pool (False) or for both (None), with those for trees or without.

    Orders of whole jobs, which are for one pool, may be left out.

    Examples
    --------
    >>> list(policies_for(True, False))
    ['psdsf', 'tsf', 'cdrfh', 'drfh', 'cdrf', 'per-server-drf']
    """
    return {
        name: entry
        for name, entry in POLICIES.items()
        if cluster in (None, entry.servers) and entry.on_tree <= on_trees and (orders or name not in ORDERS)
    }


LAWS: dict[str, Named] = {
    "exponential": Named("queueing:Exponential", about="memoryless"),
    "deterministic": Named("queueing:Deterministic", about="always the same value"),
    "erlang": Named("queueing:Erlang", ("phases",), about="sum of exponential phases, erlang:4"),
    "hyperexponential": Named(
        "queueing:Hyperexponential.fit", ("scv",), about="two exponentials, hyperexponential:4"
    ),
    "mixture": Named(
        "queueing:Hyperexponential", ("probabilities", "means"), about="mixture of exponentials"
    ),
    "lognormal": Named("queueing:Lognormal", ("scv",), about="lognormal, lognormal:4"),
    "pareto": Named("queueing:TruncatedPareto", ("shape", "ratio"), about="truncated Pareto, pareto:1.5:1e6"),
    "empirical": Named("queueing:Empirical", ("values",), about="values of a sample"),
    "phase-type": Named("queueing:PhaseType", ("initial", "rates"), about="absorption time of a chain"),
    "coxian": Named("queueing:coxian", ("scv",), {"mean": 1.0}, about="two phases, coxian:2"),
    "fitted": Named(
        "queueing:fit_phases", ("scv",), {"mean": 1.0}, about="phases that fit the scv, fitted:0.3"
    ),
}
"""Laws of sizes and of times between arrivals, scaled to the means of the traffic."""

ARRIVALS: dict[str, Named] = {
    "poisson": Named("queueing:Poisson", about="Poisson process"),
    "on-off": Named("queueing:OnOff", ("mean_on", "mean_off"), about="interrupted Poisson, on-off:10:90"),
    "map": Named("queueing:MAP", ("hidden", "arriving"), about="Markovian: rates without and with arrivals"),
}
"""Arrival processes; the name of a law stands for renewals with that law between arrivals."""

SCHEDULERS: dict[str, Named] = {
    "drf": Named("queueing:DRFScheduler", ("blocking",), about="lowest dominant share first"),
    "pf": Named("queueing:PFScheduler", ("blocking",), about="towards proportional fairness"),
    "bmf": Named("queueing:BMFScheduler", ("blocking",), about="towards bottleneck-max fairness"),
    "fifo": Named("queueing:FIFOScheduler", about="first job first"),
}
"""Schedulers of whole tasks."""

PLACEMENTS: dict[str, Named] = {
    "first-fit": Named("queueing:FirstFit", about="first server where the task fits"),
    "best-fit": Named("queueing:BestFit", ("score",), about="server that it fills best"),
    "worst-fit": Named("queueing:WorstFit", about="emptiest server"),
    "random-fit": Named("queueing:RandomFit", about="any server where it fits"),
    "power-of-choices": Named(
        "queueing:PowerOfChoices", ("choices",), about="best of some, power-of-choices:2"
    ),
    "on-arrival": Named("queueing:OnArrival", ("rule", "choices"), about="a job stays on one server"),
}
"""Which server a whole task goes to."""

# fmt: off
_ALIASES = {
    "mmf": "maxmin", "max-min": "maxmin", "proportional": "pf", "ceei": "pf", "proportional-fair": "pf",
    "bottleneck": "bmf", "bottleneck-max": "bmf", "alpha-fair": "alpha", "asset-fair": "asset",
    "asset-fairness": "asset", "hdrf": "h-drf", "h-maxmin": "h-mmf", "edrf": "drf", "ps-dsf": "psdsf",
    "c-drfh": "cdrfh", "maxweight": "max-weight", "serverfilling": "server-filling",
    "exp": "exponential", "constant": "deterministic", "phasetype": "phase-type", "onoff": "on-off",
    "firstfit": "first-fit", "bestfit": "best-fit", "worstfit": "worst-fit", "randomfit": "random-fit",
}
# fmt: on

_OWN = re.compile(r"(?P<file>.*\.py)(?::(?P<name>[^:]*)(?::(?P<parameters>.*))?)?", re.DOTALL)


def policy_named(
    spec: Any, *, cluster: bool | None = None, tree: Any = None, folder: Path | None = None
) -> Any:
    """Policy of a name.

    Parameters
    ----------
    spec : str or mapping
        "drf", "alpha:2" or {"policy": "tdrf", "join_times": [3, 8]}; or one of a Python file,
        "mine.py:priority".
    cluster : bool, optional
        Whether it must be for servers (True) or for a pool (False). Default: either.
    tree : Tree, optional
        Queues, for the policies that share among them.
    folder : Path, optional
        Where the Python files of policies are; without it none is run.

    Raises
    ------
    ModelError
        If the name is unknown or of the other kind, a parameter is wrong, or there is no tree for it.

    Examples
    --------
    >>> policy_named("alpha:2"), policy_named("psdsf:time").name
    (AlphaFair(alpha=2.0), 'PS-DSF tdm')
    """
    if (own := split_name(spec)) is not None:
        file, attribute, words = own
        given = {k: v for k, v in spec.items() if k != "policy"} if isinstance(spec, Mapping) else {}
        values = [] if words is None else [_value(word.strip()) for word in words.split(":")]
        return own_policy(file, attribute, folder, values, given)
    name = _name(spec, "policy")
    known, entry = policies_for(cluster, cluster is None or tree is not None), POLICIES.get(name)
    if entry is not None and cluster not in (None, entry.servers):
        here, there = ("servers", "one pool") if cluster else ("one pool", "servers")
        alike = entry.on_tree and tree is not None
        take = ", ".join(one for one, other in known.items() if other.on_tree == alike)
        raise ModelError(f"policy {name!r} is for {there}, but the model has {here}; take one of {take}")
    if entry is None or not entry.on_tree:
        return _built(spec, "policy", known)
    if tree is None:
        raise ModelError(f"policy {name!r} shares among queues, but there are none; add a table [tree]")
    return _built(spec, "policy", POLICIES, tree=tree, policy=policy_named(entry.fixed["policy"]))


def split_name(spec: Any) -> tuple[str, str, str | None] | None:
    """File, name and parameters of a policy of one's own; None if the policy is one of the library.

    Examples
    --------
    >>> split_name("rules/mine.py:Powers:2"), split_name("alpha:2")
    (('rules/mine.py', 'Powers', '2'), None)
    """
    text = spec.get("policy") if isinstance(spec, Mapping) else spec
    found = _OWN.fullmatch(text.strip()) if isinstance(text, str) else None
    return None if found is None else (found["file"], (found["name"] or "").strip(), found["parameters"])


def full_name(spec: Any) -> str | None:
    """A policy of one's own with its file and parameters, in one line; None if it is one of the library.

    Examples
    --------
    >>> full_name({"policy": "mine.py:Powers", "exponent": 2}), full_name("drf")
    ('mine.py:Powers(exponent=2)', None)
    """
    if split_name(spec) is None:
        return None
    if not isinstance(spec, Mapping):
        return str(spec).strip()
    given = ", ".join(f"{key}={value!r}" for key, value in spec.items() if key != "policy")
    return f"{spec['policy'].strip()}({given})" if given else str(spec["policy"]).strip()


def policy_spec(policy: Any) -> str | dict[str, Any]:
    """Name of a policy with its parameters, which :func:`policy_named` reads.

    Raises
    ------
    ModelError
        If no name leads to this policy.

    Examples
    --------
    >>> from fairness import TDRF, AlphaFair
    >>> policy_spec(AlphaFair(2)), policy_spec(TDRF([3, 8]))
    ('alpha:2', {'policy': 'tdrf', 'join_times': [3, 8]})
    """
    if getattr(policy, "tree", None) is not None:
        for name, entry in POLICIES.items():
            if entry.on_tree and policy.policy == policy_named(entry.fixed["policy"]):
                return _spec(policy, "policy", {name: entry})
    return _spec(policy, "policy", policies_for(None, False))


def law_spec(law: Any) -> str | dict[str, Any]:
    """Name of a law with its parameters but its mean, which :func:`law_named` reads.

    Raises
    ------
    ModelError
        If no name leads to this law.

    Examples
    --------
    >>> from queueing import Erlang, Exponential
    >>> law_spec(Exponential(3.0)), law_spec(Erlang(4))
    ('exponential', 'erlang:4')
    """
    return _spec(law, "law", LAWS)


def arrivals_spec(process: Any) -> str | dict[str, Any]:
    """Name of an arrival process, which :func:`arrivals_named` reads; ModelError as :func:`law_spec`."""
    from queueing import Renewal

    return law_spec(process.law) if isinstance(process, Renewal) else _spec(process, "law", ARRIVALS)


def _spec(thing: Any, key: str, known: Mapping[str, Named]) -> str | dict[str, Any]:
    for name, entry in known.items():
        if entry.kind is type(thing):
            defaults = signature(entry.kind).parameters
            given = {k: plain(getattr(thing, k)) for k in entry.parameters}
            given = {k: value for k, value in given.items() if value != defaults[k].default}
            words = [given.get(k) for k in entry.parameters[: len(given)]]
            if all(isinstance(word, str | int | float) and not isinstance(word, bool) for word in words):
                return ":".join([name, *(str(word).removesuffix(".0") for word in words)])
            return {key: name, **given}
    raise ModelError(f"no name leads to the {key} {thing!r}; a scenario takes {', '.join(known)}")


def law_named(spec: Any) -> Any:
    """Law of sizes of a name, such as "erlang:4".

    Raises
    ------
    ModelError
        If the name is unknown or a parameter is wrong.

    Examples
    --------
    >>> law_named("erlang:4"), law_named({"law": "lognormal", "scv": 3}).scv
    (Erlang(phases=4, mean=1.0), 3.0)
    """
    return _built(spec, "law", LAWS)


def arrivals_named(spec: Any) -> Any:
    """Arrival process of a name: "poisson", "on-off:10:90", or a law between arrivals such as "erlang:4".

    Raises
    ------
    ModelError
        If the name is unknown or a parameter is wrong.

    Examples
    --------
    >>> arrivals_named("erlang:2")
    Renewal(law=Erlang(phases=2, mean=1.0))
    """
    name = _name(spec, "law")
    if name in LAWS:
        from queueing import Renewal

        return Renewal(law_named(spec))
    return _built(spec, "law", {**ARRIVALS, **LAWS}, "arrival process")


def scheduler_named(spec: Any) -> Any:
    """Scheduler of whole tasks of a name, such as "drf" or "fifo"."""
    return _built(spec, "scheduler", SCHEDULERS)


def placement_named(spec: Any) -> Any:
    """Placement rule of a name, such as "best-fit" or "power-of-choices:2"."""
    return _built(spec, "placement", PLACEMENTS)


def _name(spec: Any, key: str) -> str:
    """Name in a text or table, in its standard spelling."""
    given = spec.get(key) if isinstance(spec, Mapping) else spec
    if not isinstance(given, str):
        raise ModelError(
            f"a {key} is a name such as {_EXAMPLES[key]!r} or a table {{ {key} = ..., ... }}; got {spec!r}"
        )
    name = "-".join(given.partition(":")[0].casefold().replace("_", " ").replace("-", " ").split())
    return _ALIASES.get(name, name)


_EXAMPLES = {"policy": "drf", "law": "erlang:4", "scheduler": "drf", "placement": "best-fit"}


def _built(spec: Any, key: str, known: Mapping[str, Named], what: str = "", **given: Any) -> Any:
    name = _name(spec, key)
    if name not in known:
        raise ModelError(f"unknown {what or key} {name!r}; {near(name, known)}")
    entry = known[name]
    if isinstance(spec, Mapping):
        arguments = {k: v for k, v in spec.items() if k != key}
        for k in arguments:
            if k not in entry.parameters:
                has = near(k, entry.parameters) if entry.parameters else "it has none"
                raise ModelError(f"{key} {name!r} has no parameter {k!r}; {has}")
        if ":" in spec[key]:
            raise ModelError(f"{key} {spec[key]!r}: give parameters in the text or in the table, not in both")
    else:
        values = [part.strip() for part in spec.split(":")[1:]]
        if len(values) > len(entry.parameters):
            takes = f"takes {', '.join(entry.parameters)}" if entry.parameters else "takes no parameter"
            raise ModelError(f"{key} {spec!r} has too many parameters; {name!r} {takes}")
        arguments = {k: _value(v) for k, v in zip(entry.parameters, values, strict=False)}
    for k in entry.required:
        if k not in arguments:
            raise ModelError(f"{key} {name!r} needs the parameter {k!r}; {entry.about}")
    try:
        return entry.kind(**{**entry.fixed, **given}, **arguments)
    except ModelError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"a parameter of {key} {name!r} is of the wrong kind: {error}; {entry.about}"
        ) from None


def _value(text: str) -> Any:
    """Number, list of numbers, boolean or word of the text form."""
    if "," in text:
        return [_value(part.strip()) for part in text.split(",")]
    for kind in (int, float, Fraction):
        try:
            return kind(text)
        except (ValueError, ZeroDivisionError):
            continue
    return {"true": True, "false": False}.get(text, text)

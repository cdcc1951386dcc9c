"""``solve``: stationary means of every policy beside balanced fairness, or proved bounds of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console.command import Call, command
from fairqueues.console.inputs import chain_options, chosen, loaded, numbers, settings
from fairqueues.console.options import File, Load, Policies, Precision, Seconds
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Evidence

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from queueing import System
    from queueing.results import Enclosure, Stationary

__all__ = ["solve"]


@command("jobs", "seed", writes="certificate")
def solve(
    call: Call,
    file: File,
    policy: Policies = None,
    load: Load = None,
    shape: str | None = None,
    tail: Annotated[float | None, typer.Option(min=0.0, max=1.0)] = None,
    certified: Annotated[bool | None, typer.Option("--certified/--estimated")] = None,
    width: float | None = None,
    certificate: Path | None = None,
    seconds: Seconds = None,
    precision: Precision = None,
) -> None:
    """Solve the Markov chain of every policy; on a pool also balanced fairness and the duration bound.

    With --certified the means of every policy are enclosed between bounds that are proved. With --seconds
    each is found as well as the time allows, also of many classes; that one is unstable is an answer, and of
    up to three classes each stands beside the fewest jobs that any policy can have.

    Parameters
    ----------
    shape : K,L,...
        States per class; default: as needed.
    tail : P
        Probability that may be left out.
    certified
        Proved bounds instead of estimates.
    width : W
        Largest width of proved bounds, part of the mean.

    Examples
    --------
    $ fairqueues solve talk_unbalanced --load 0.6 --out rates.svg
    """
    scenario = call.read(file)
    policies = chosen(scenario, policy)
    if seconds is not None:
        from capacity.means.words import METHODS, yardsticks
        from fairqueues.commands.rates import deliver_means, within

        own = {"--shape": shape, "--tail": tail, "--width": width, "--certificate": certificate}
        wrong = [name for name, value in own.items() if value is not None]
        if wrong or certified:
            raise WrongUse(f"--seconds chooses the method; leave out {', '.join(wrong) or '--certified'}")
        system = scenario.system if load is None else scenario.system.at_load(load)
        named = {METHODS[word]: word for word in yardsticks(system)}
        solved = within(call, system, policies | named, None, seconds, precision)
        deliver_means(call, "Mean service rates", solved, "service_rates", (), beside=named)
        return
    if precision is not None:
        raise WrongUse("--precision is for answers in a given time; add --seconds")
    system = loaded(scenario, load)
    if scenario.section("chain").certified if certified is None else certified:
        if shape is not None:
            raise WrongUse("--shape is for estimates: proved bounds are those of the infinite chain")
        if certificate is not None and len(policies) > 1:
            raise WrongUse("--certificate writes the proof of one policy; choose it with --policy")
        options = chain_options(scenario, tail=tail) | settings(scenario, "chain", ("width",), width=width)
        # The largest box is that of the scenario if it names one: estimates reach further by default.
        if "max_states" not in scenario.section("chain").model_fields_set:
            del options["max_states"]
        _bounds(call, system, _laws(call, system, policies, certified=True, **options), certificate)
        return
    if width is not None or certificate is not None:
        raise WrongUse("--width and --certificate are for proved bounds; add --certified")
    given = numbers("--shape", shape, system.n_classes)
    box = None if given is None else [int(k) if k.is_integer() else k for k in given]
    options = chain_options(scenario, shape=box, tail=tail)
    # A box that was given leaves out what it leaves out; one that was found must keep its promise.
    promised = None if options.get("shape") else options.get("tail", 1.0)
    _estimates(call, system, _laws(call, system, policies, **options), promised, not scenario.is_cluster)


def _laws(call: Call, system: System, policies: Mapping[str, Any], **options: Any) -> dict[str, Stationary]:
    from queueing import stationary
    from queueing.waiting.whole_jobs import waits

    make = partial(stationary, system, distribution=False, **options)
    # Chains of whole jobs in order are not cut off: of all options they are told, and refuse, proofs.
    in_order = partial(stationary, system, certified=options.get("certified", False))
    return call.run(
        {
            name: partial(in_order if waits(system, policy) else make, policy)
            for name, policy in policies.items()
        }
    )


def _estimates(
    call: Call, system: System, results: dict[str, Any], promised: float | None, closed: bool
) -> None:
    """Deliver the means of chains that are cut off and, where there are closed forms, those beside them."""
    import numpy as np

    from queueing import balanced_fairness, duration_bound

    evidence = []
    for name, law in results.items():
        if hasattr(law, "tail_mass"):
            kept = None if promised is None else bool(law.tail_mass <= promised)
            evidence.append(_tail(name, law, kept))
        evidence.append(Evidence(name, "violation of the balance equations", law.residual))
    if closed:
        # What is too large for the one does not cost the chains; the other is for jobs without limits.
        forms: dict[str, Callable[[], Any]] = {"balanced fairness": partial(balanced_fairness, system)}
        if not np.isfinite(system.problem.limits).any():
            forms["bound"] = partial(duration_bound, system)
        found = call.run(forms, unit="result", refusals=True)
        if "balanced fairness" in found:
            tail = found["balanced fairness"].tail_mass
            evidence.append(Evidence("balanced fairness", "tail mass", tail, bound="upper"))
        results |= found
    # The lower bounds would be a column of the bound alone; in Python its result has them.
    tables = {
        n: law.to_dataframe().drop(columns="least_duration", errors="ignore") for n, law in results.items()
    }
    rates = {name: law.service_rates for name, law in results.items()}
    _deliver(call, system, "Stationary means", tables, evidence, rates)


def _bounds(call: Call, system: System, laws: dict[str, Stationary], certificate: Path | None) -> None:
    """Deliver bounds of the means of every policy, and what proves them.

    Where none were found it is the estimates that are left; the failures say why.
    """
    found: dict[str, Enclosure] = {n: law.enclosure for n, law in laws.items() if law.enclosure is not None}
    if not found:
        tables = {name: law.to_dataframe() for name, law in laws.items()}
        tails = [_tail(name, law) for name, law in laws.items()]
        rates = {name: law.service_rates for name, law in laws.items()}
        _deliver(call, system, "Stationary means, estimates without bounds", tables, tails, rates)
        return
    evidence = [
        Evidence(
            name,
            f"certificate on {' x '.join(map(str, one.certificate.shape))} states, largest width",
            one.reached,
            not one.shortfall,
            bound="upper",
        )
        for name, one in found.items()
    ]
    evidence += [_estimated(name, laws[name]) for name in found]
    middle = {n: (one.service_rates.lower + one.service_rates.upper) / 2 for n, one in found.items()}
    _deliver(
        call,
        system,
        "Proved bounds of stationary means",
        {name: one.by_class() for name, one in found.items()},
        evidence,
        middle,
        failures=[
            f"{name}: {one.shortfall}; raise width (here: --width)"
            for name, one in found.items()
            if one.shortfall
        ],
        # With a file for the certificate there is one policy.
        files={} if certificate is None else {certificate: next(iter(found.values())).certificate.save},
    )


def _deliver(
    call: Call,
    system: System,
    what: str,
    tables: Mapping[str, pd.DataFrame],
    evidence: Sequence[Evidence],
    rates: Mapping[str, ArrayLike],
    **more: Any,
) -> None:
    """Deliver means by method, with bars of their service rates."""
    import pandas as pd

    from fairqueues.console.figures import class_bars

    call.deliver(
        what,
        pd.concat(tables, names=["method"]),
        evidence,
        notes=(repr(system),),
        figure=lambda: class_bars(rates, system.problem.job_classes),
        extra={"relative_loads": dict(zip(system.load_names, system.relative_loads, strict=True))},
        **more,
    )


def _tail(name: str, law: Stationary, kept: bool | None = None) -> Evidence:
    """What a box leaves out, and whether that is what it may."""
    return Evidence(name, f"{law.method} on {law.region}, tail mass", law.tail_mass, kept)


def _estimated(name: str, law: Stationary) -> Evidence:
    """The estimate beside the bounds, which lie within its claimed error if that is right."""
    import numpy as np

    assert law.enclosure is not None
    lower, upper = law.enclosure.mean_jobs
    apart = np.maximum(0.0, np.maximum(lower - law.mean_jobs, law.mean_jobs - upper))
    some = law.mean_jobs > 0
    return Evidence(
        name,
        f"estimate by {law.method} on {law.region}, relative distance from the bounds",
        float((apart[some] / law.mean_jobs[some]).max()),
        bool((apart <= law.mean_jobs_error).all()),
    )

"""The talk's two open questions, by numbers: PF against balanced fairness near load 1, and the stability of BMF."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import LogFormatter

from capacity.studies.heavy_traffic import HeavyTraffic
from capacity.studies.heavy_traffic import heavy_traffic as study_heavy_traffic
from capacity.studies.instability import InstabilitySearch, RandomLines, RandomSystems, search_instability
from examples.gallery import Check, Page, Table
from fairness import DRF, BottleneckMax, Problem, ProportionalFair
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.protocol.policy import Policy
from queueing import System

__all__ = ["bmf_stability", "heavy_traffic"]

CASES = (
    ("one resource, demands 1 and 3", [[1], [3]], (2, 1), (DRF(),)),
    ("(1,.1; .1,1), ρ₁ = ρ₂: both resources full", [[1, 0.1], [0.1, 1]], (1, 1), (DRF(),)),
    ("(1,.5; .5,1), ρ₁ = 3ρ₂: one of two resources full", [[1, 0.5], [0.5, 1]], (3, 1), (DRF(),)),
    ("(4,1; 2,1; 1,4): three classes, both full", [[4, 1], [2, 1], [1, 4]], (43, 27, 52), (BottleneckMax(),)),
)
"""Name, demands, mix, policies beside balanced fairness and PF."""

NEAR = "(1,.1; .1,1), ρ₁ = 3ρ₂"
"""The case whose means are enclosed near load 1."""

NAMES = {"balanced": "balanced fairness"}


def heavy_traffic(*, full: bool) -> Page:
    """(1 - load) E[jobs] as the load approaches 1, and its limits."""
    # Chains of three classes near load 1 take most of the time.
    cases = CASES if full else CASES[:2]
    shape = (2, 2) if full else (1, 2)
    figure, axes = plt.subplots(*shape, figsize=(11, 4 * shape[0]), layout="constrained")
    numbers, rows, checks, said = {}, [], [], []
    for ax, (name, demands, mix, others) in zip(axes.flat, cases, strict=True):
        study = _study(demands, mix, others, full)
        study.plot(ax)
        ax.set_title(name, fontsize="medium")
        # Queues that grow faster than 1/(1 - load) leave the picture.
        known = np.concatenate([[*study.reference], *(q.limit[np.isfinite(q.limit)] for q in study.queues)])
        ax.set(xlim=(-0.01, 0.41), ylim=(0, 1.6 * max(study.reference[0], 0.5 * known.max())))
        rows += [
            [
                name,
                NAMES.get(row.policy, row.policy),
                row.job_class,
                f"{row.limit:.4f} ± {row.error:.1g}" if math.isfinite(row.limit) else "none seen",
                f"{row.reference:.4f}",
                f"{row.exponent:.2f}",
            ]
            for row in study.limits().itertuples()
        ]
        # The theory covers balanced fairness and PF where the demands for the full resources are independent.
        for policy in ("balanced", "PF"):
            queue = study[policy]
            for i in np.flatnonzero(np.isfinite(queue.limit)):
                checks.append(
                    Check(
                        f"limit of (1 - load) E[jobs of class {i + 1}], {policy}, {name}",
                        f"{study.reference[i]:.4f}",
                        f"{queue.limit[i]:.4f} ± {queue.limit_error[i]:.1g}",
                        bool(abs(queue.limit[i] - study.reference[i]) <= queue.limit_error[i]),
                    )
                )
        said.append(f"{name}: " + "; ".join(_said(study)))
        numbers[name] = {
            "bottlenecks": list(study.bottlenecks),
            "reference": study.reference,
            **{
                q.policy: {
                    "load": q.loads,
                    "scaled jobs": q.values,
                    "error": q.errors,
                    "limit": [v if math.isfinite(v) else None for v in q.limit],
                    "limit error": [v if math.isfinite(v) else None for v in q.limit_error],
                    "exponent": q.exponents,
                }
                for q in study.queues
            },
        }
    entries: dict = {}
    for ax in axes.flat:
        entries |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        ax.get_legend().remove()
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=len(entries))
    proved, words = _proved(full)
    numbers[NEAR] = {
        f"{policy}, {job_class}": {name: rows_[name].tolist() for name in ("load", "lower", "upper")}
        for (policy, job_class), rows_ in proved.groupby(["policy", "job_class"])
    }
    near = Table(
        f"{NEAR}: bounds of (1 - load) E[jobs] that are proved (balanced fairness: of truncation, with an allowance for rounding)",
        ["policy", "class", "load", "lower", "upper"],
        [
            [
                NAMES.get(row.policy, row.policy),
                row.job_class,
                f"{row.load:g}",
                f"{row.lower:.8f}",
                f"{row.upper:.8f}",
            ]
            for row in proved.itertuples()
        ],
    )
    table = Table(
        "Limits at load 1, extrapolated; reference: ρ times the sum of a/C over the full resources; "
        "exponent e: E[jobs] grows locally like (1 - load)^-e between the two highest loads",
        ["system", "policy", "class", "limit", "reference", "e"],
        rows,
    )
    return Page(
        "heavy_traffic",
        "9. PF and balanced fairness in heavy traffic",
        'Slide "Conjectures": PF and balanced fairness agree as the load approaches 1.',
        "(1 - load) E[jobs of class 1] against 1 - load; open marks at 0 are limits extrapolated from the points, with estimated errors: evidence, not a proof. The reference is ρ Σ a/C over the full "
        "resources, the diffusion limit of PF and the limit of the duration bound. "
        + ". ".join(said)
        + f". {words}",
        figure,
        numbers,
        checks,
        [table, near],
    )


def _proved(full: bool) -> tuple[pd.DataFrame, str]:
    """Bounds near load 1, and what they say of PF and balanced fairness."""
    problem = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["class 1", "class 2"])
    loads, width = ((0.95, 0.975, 0.99, 0.995), 1e-4) if full else ((0.95, 0.99), 1e-2)
    study = study_heavy_traffic(
        problem,
        (3, 1),
        ["balanced", ProportionalFair()],
        loads=(0.4, 0.5, 0.6, 0.8),
        tail=1e-5,
        certified=loads,
        width=width,
    )
    balanced, fair = study.bounds
    longer = (balanced.upper < fair.lower)[-1]
    shorter = (fair.upper < balanced.lower)[-1]
    said = [
        f"class {i + 1} has {'more' if longer[i] else 'fewer'} jobs under PF"
        for i in np.flatnonzero(longer | shorter)
    ]
    where = f"{NEAR}, enclosed at load {loads[-1]:g}"
    return (
        study.certified(),
        f"{where}: {' and '.join(said)} than under balanced fairness." if said else f"{where}.",
    )


def _study(
    demands: list[list[float]], mix: tuple[float, ...], others: tuple[Policy, ...], full: bool
) -> HeavyTraffic:
    """Balanced fairness and PF, and other policies at the loads that their boxes allow."""
    classes = [f"class {i + 1}" for i in range(len(demands))]
    problem = Problem(demands, np.ones(len(demands[0])), job_classes=classes)
    loads = (0.6, 0.8, 0.9, 0.95, 0.975, 0.9875)
    many = len(demands) > 2
    options = {"tail": 1e-4 if many else 1e-7 if full else 1e-5, "tolerance": 1e-5 if many else 1e-8}
    first = study_heavy_traffic(problem, mix, ["balanced"], loads=loads[:5], tail=1e-7)
    last = 4 if many or not full else 6
    near = study_heavy_traffic(problem, mix, [ProportionalFair()], loads=loads[:last], **options)
    # Queues of DRF need far larger boxes near load 1.
    lower = loads[:4] if full else (0.4, *loads[:3])
    far = study_heavy_traffic(problem, mix, list(others), loads=lower, **options)
    return replace(first, queues=first.queues + near.queues + far.queues)


def _said(study: HeavyTraffic) -> list[str]:
    """What the numbers say of each policy next to balanced fairness."""
    words = []
    for queue in study.queues[1:]:
        name = queue.policy
        agree = study.agree("balanced", name)
        fastest = int(np.nanargmax(queue.exponents))
        top = f"{queue.loads[-1]:g}"
        if agree is None:
            words.append(
                f"for {name} no limit is seen, E[jobs of class {fastest + 1}] grows like (1 - load)^-{queue.exponents[fastest]:.2f} at {top}"
            )
            continue
        a = study["balanced"]
        apart = np.abs(queue.limit - a.limit) / a.limit
        error = (queue.limit_error + a.limit_error) / a.limit
        words.append(
            f"{name} {'agrees with' if agree else 'differs from'} balanced fairness within the errors (largest difference {100 * apart.max():.2g} %, errors up to {100 * error.max():.2g} %), "
            f"though at load {top} class 1 is still at {queue.values[-1, 0] / queue.limit[0]:.2f} of its limit"
            if agree
            else f"{name} differs from balanced fairness by up to {100 * apart.max():.2g} %, with errors up to {100 * error.max():.2g} %"
        )
    return words


def bmf_stability(*, full: bool) -> Page:
    """Random systems inside the capacity region, searched for an instability of BMF."""
    sizes = ((3, 3, 30), (4, 4, 10), (5, 3, 10), (3, 5, 20)) if full else ((3, 3, 2),)
    searches = [
        search_instability(
            BottleneckMax(),
            RandomSystems(n, m),
            k,
            starts=2 if full else 0,
            rng=[1410, n, m],
            max_evaluations=1500,
        )
        for n, m, k in sizes
    ]
    control = search_instability(short_flows_first, RandomLines(2), 16 if full else 6, starts=0, rng=1410)
    labels = [f"BMF, {k} systems:\n{n} classes,\n{m} resources" for n, m, k in sizes]
    labels += [f"control, {len(control.findings)} systems:\nshort flows first"]
    figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    rows, numbers = [], {}
    finite = np.concatenate([s.ratios[np.isfinite(s.ratios)] for s in (*searches, control)])
    top = max(2.0, 1.3 * finite.max(initial=1.0))
    for k, found in enumerate([*searches, control]):
        place = k + np.linspace(-0.2, 0.2, len(found.findings))
        for x, one in zip(place, sorted(found.findings, key=lambda one: one.ratio), strict=True):
            bad = one.found == "unstable"
            shade = part_colour(5) if bad else colour("BMF") if k < len(searches) else "0.4"
            hollow = "white" if one.found == "undecided" else shade
            ax.plot(x, top if bad else one.ratio, "^" if bad else "o", ms=5, color=shade, mfc=hollow)
        counts, bound = found.counts, found.fraction_bound
        rows.append(
            [
                f"{found.policy}, {found.family}",
                str(len(found.findings)),
                str(found.trajectories),
                *(
                    str(counts[kind])
                    for kind in ("theorem", "certificate", "draining", "undecided", "unstable")
                ),
                f"{100 * bound:.2g} %" if math.isfinite(bound) else "",
            ]
        )
        numbers[f"{found.policy}, {found.family}"] = {
            "ratios": [float(r) if math.isfinite(r) else None for r in found.ratios],
            "trajectories": found.trajectories,
            **counts,
        }
    open_ = sum(s.counts["undecided"] for s in searches)
    ax.set_xticks(range(len(labels)), labels, fontsize="small")
    ax.set_yscale("log")
    ax.set(ylabel="emptying time / least possible", xlim=(-0.5, len(labels) - 0.5), ylim=(0.9, 1.3 * top))
    for which in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        which(LogFormatter(minor_thresholds=(2, 1)))
    ax.axhline(1, color="0.7", lw=1)
    told = "▲ jobs grow for ever (their height means nothing);  ● queues empty" + ";  ○ undecided" * (
        open_ > 0
    )
    ax.text(0.01, 0.97, told, transform=ax.transAxes, va="top", fontsize="small")
    ax.set_title("Fluid limits at random loads inside the capacity region", fontsize="medium")
    total = sum(len(s.findings) for s in searches)
    bad = sum(s.counts["unstable"] for s in searches)
    wrong = sum((one.found == "unstable") != _beyond(one.system) for one in control.findings)
    caught = control.counts["unstable"]
    return Page(
        "bmf_stability",
        "10. Is BMF stable?",
        'Slide "Conjectures": stability of bottleneck max fairness in the whole capacity region.',
        f"Every mark is a random system with all loads inside the capacity region: the slowest ray that its fluid trajectories end on, in units of the least time in which any policy could empty the queues. "
        f"Of {total} systems under BMF, busiest resource at .9 to .99, {bad or 'none'} {'is' if bad == 1 else 'are'} unstable and {open_} undecided (a trajectory could not be followed to its end). Theorems cover two "
        f"classes on two resources, and any number there below load .97 (br-bmf-stable-97); beyond them this is evidence and no proof; {_bounds(searches, sizes)}(last column of the table). The control is strict "
        f"priority to short flows on linear networks, which leaves no resource idle that anybody could use: it is known to be unstable where the load of the long flows exceeds the part of time in which all links are free. The search says so in {caught} "
        f"of {len(control.findings)} systems, and {'is right in all' if not wrong else f'errs in {wrong}'}.",
        figure,
        numbers,
        [
            Check("unstable systems found under BMF", "0, if the conjecture holds", str(bad), bad == 0),
            Check("wrong verdicts on short flows first", "0", str(wrong), wrong == 0),
            Check("unstable systems found under short flows first", "> 0", str(caught), caught > 0),
        ],
        [
            Table(
                "What was found, by its basis: a theorem; a fitted Lyapunov function and draining trajectories; draining trajectories only; undecided; unstable with a witness",
                [
                    "policy, family",
                    "systems",
                    "trajectories",
                    "theorem",
                    "certificate",
                    "draining",
                    "undecided",
                    "unstable",
                    "fraction below",
                ],
                rows,
            )
        ],
    )


def _bounds(searches: Sequence[InstabilitySearch], sizes: Sequence[tuple[int, int, int]]) -> str:
    """How many systems of each size were searched, and what that says of all such systems."""
    told = [
        f"{100 * found.fraction_bound:.2g} per cent ({n} classes on {m} resources, from {k} {'system' if k == 1 else 'systems'})"
        for found, (n, m, k) in zip(searches, sizes, strict=True)
        if math.isfinite(found.fraction_bound)
    ]
    if not told:
        return "no bound on the fraction of unstable systems follows "
    return (
        "of the systems that it decides the search would see an instability, with 95 per cent confidence, in less than "
        f"{', '.join(told)}{', and that from a handful of systems says next to nothing' * (min(k for *_, k in sizes) < 5)} "
    )


def short_flows_first(problem: Problem, counts: np.ndarray) -> np.ndarray:
    """Classes with a link of their own take it; class 0 runs when all links are free."""
    here = (np.asarray(counts) > 0).astype(float)
    long = here[..., :1] * np.prod(1 - here[..., 1:], axis=-1, keepdims=True)
    return np.concatenate([long, here[..., 1:]], axis=-1)


def _beyond(system: System) -> bool:
    """Whether short flows first is unstable: T. Bonald and L. Massoulié, SIGMETRICS 2001."""
    return bool(system.loads[0] > np.prod(1 - system.loads[1:]))

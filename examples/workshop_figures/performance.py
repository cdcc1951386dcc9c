"""Random traffic: capacity region, mean service rates, validation by simulation (figures 8, 10, 11)."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from tqdm.auto import tqdm

from capacity import stability_region
from examples.gallery import Check, Page, distance
from fairness import DRF, Problem, ProportionalFair
from fairness.catalogue import colour
from queueing import System, balanced_fairness, duration_bound, simulate, stationary

__all__ = ["capacity_region", "service_rates", "validation"]

MIXES = {"balanced load, ρ₁ = ρ₂": (1, 1), "unbalanced load, ρ₁ = 3ρ₂": (3, 1)}

# Mean durations in units of the mean size for a = (1, .1; .1, 1), busiest resource at the given load, computed
# independently from the talk's formulas: balanced fairness, bound, PF, DRF (class 1, and class 2 where it differs).
REFERENCE = {
    ("balanced load, ρ₁ = ρ₂", 0.5): [(2.0397, 2.1000, 2.0000, 2.3321)] * 2,
    ("balanced load, ρ₁ = ρ₂", 0.9): [(10.7588, 10.9000, 10.1536, 29.8808)] * 2,
    ("unbalanced load, ρ₁ = 3ρ₂", 0.5): [(2.0029, 2.0265, 2.0010, 2.0171), (1.3099, 1.3653, 1.2634, 1.6123)],
    ("unbalanced load, ρ₁ = 3ρ₂", 0.9): [
        (10.0124, 10.0606, 10.0157, 10.0131),
        (2.3939, 2.5062, 1.8479, 8.7607),
    ],
}


def talk_problem() -> Problem:
    """The talk's example (10,1; 1,10), in units in which a task alone holds all of its busy resource."""
    return Problem([[10, 1], [1, 10]], [10, 10], job_classes=["class 1", "class 2"], resources=["CPU", "RAM"])


def capacity_region(*, full: bool) -> Page:
    """Figure 8: the loads that fit."""
    problem = Problem(
        [[10, 1], [1, 10]], [1, 1], job_classes=["class 1", "class 2"], resources=["CPU", "RAM"]
    )
    region = stability_region(problem)
    figure, ax = plt.subplots(figsize=(6.2, 5.4), layout="constrained")
    region.plot(ax)
    for (name, mix), style in zip(MIXES.items(), (":", "--"), strict=True):
        end = region.max_scale(mix) * np.array(mix)
        ax.plot([0, end[0]], [0, end[1]], style, color="black", lw=1, label=name)
    ax.legend(fontsize="small")
    ax.set_title("Capacity region of (10,1; 1,10), unit capacities")
    expected = {
        (Fraction(0), Fraction(0)),
        (Fraction(1, 10), Fraction(0)),
        (Fraction(1, 11), Fraction(1, 11)),
        (Fraction(0), Fraction(1, 10)),
    }
    found = {tuple(vertex) for vertex in region.exact_vertices}
    checks = [
        Check(
            "vertices, exactly",
            "(0,0), (1/10,0), (1/11,1/11), (0,1/10)",
            ", ".join("(" + ",".join(map(str, v)) + ")" for v in sorted(found)),
            found == expected,
        ),
        Check("area", "1/110", str(region.exact_volume), region.exact_volume == Fraction(1, 110)),
    ]
    return Page(
        "fig08_capacity_region",
        "8. The loads that fit",
        'Slide "Capacity region": 10ρ₁ + ρ₂ < 1 and ρ₁ + 10ρ₂ < 1.',
        "No policy is stable outside. A policy that empties the fluid queues from every start is stable; figure 9 shows PF (here equal to BMF) and DRF at work inside. The two rays are the balanced "
        "and unbalanced loads of the following figures; each meets the border where its busiest resource is full.",
        figure,
        {"vertices": region.vertices, "volume": region.volume},
        checks,
    )


def service_rates(*, full: bool) -> Page:
    """Figure 10: mean service rate against load, by balanced fairness, its bound, and the chains of PF and DRF."""
    problem = talk_problem()
    loads = np.r_[0.05, np.arange(0.1, 0.91, 0.1), 0.95] if full else np.array([0.1, 0.3, 0.5, 0.7, 0.8])
    fine = np.linspace(0.01, 0.97, 60)
    policies = (ProportionalFair(), DRF())
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained", sharex=True, sharey=True)
    numbers, checks = {}, []
    bar = tqdm(total=len(MIXES) * len(loads) * len(policies), desc="chains", leave=False, disable=None)
    shortfall = 0.0
    for column, (name, mix) in enumerate(MIXES.items()):
        curves = {"balanced fairness": [], "bound": []}
        for load in fine:
            system = System.with_load(problem, mix, load)
            curves["balanced fairness"].append(balanced_fairness(system).service_rates)
            curves["bound"].append(duration_bound(system).service_rates)
        points: dict[str, list[np.ndarray]] = {policy.name: [] for policy in policies}
        worst_tail = worst_residual = 0.0
        for load in loads:
            system = System.with_load(problem, mix, load)
            for policy in policies:
                law = stationary(system, policy)
                points[policy.name].append(law.service_rates)
                worst_tail, worst_residual = max(worst_tail, law.tail_mass), max(worst_residual, law.residual)
                bar.update()
            balanced = balanced_fairness(system).service_rates
            shortfall = max(shortfall, float((1 - points["PF"][-1] / balanced).max()))
            reference = REFERENCE.get((name, round(float(load), 3)))
            if reference:
                ours = [
                    1 / balanced_fairness(system).service_rates,
                    1 / duration_bound(system).service_rates,
                    *(1 / points[p.name][-1] for p in policies),
                ]
                for k, label in enumerate(("balanced fairness", "bound", "PF", "DRF")):
                    for i in range(1 if mix == (1, 1) else 2):
                        checks.append(
                            Check.close(
                                f"mean duration / mean size, {label}, {name}, load {load:g}, class {i + 1}",
                                reference[i][k],
                                float(ours[k][i]),
                            )
                        )
        for row in range(2):
            ax = axes[row, column]
            for label, style in (("balanced fairness", "-"), ("bound", "--")):
                ax.plot(fine, np.array(curves[label])[:, row], style, color=colour(label), label=label)
            for policy, marker in zip(policies, "Ds", strict=True):
                label = "PF = BMF" if policy.name == "PF" else policy.name
                ax.plot(
                    loads,
                    np.array(points[policy.name])[:, row],
                    marker + ":",
                    ms=5,
                    color=colour(policy.name),
                    label=label,
                )
            ax.set(title=f"{name}: class {row + 1}", ylim=(0, 1.02), xlim=(0, 1))
        numbers[name] = {
            "load of curves": fine,
            **curves,
            "load of points": loads,
            **points,
            "largest tail mass": worst_tail,
            "largest residual": worst_residual,
        }
    bar.close()
    for ax in axes[1]:
        ax.set_xlabel("load of the busiest resource")
    for ax in axes[:, 0]:
        ax.set_ylabel("mean service rate\n(1 = alone in the system)")
    axes[0, 0].legend(fontsize="small")
    return Page(
        "fig10_service_rates",
        "10. Mean service rate against load",
        'Slides "A useful bound for BF", "Example": demands (10,1; 1,10), balanced and unbalanced load.',
        "Lines: balanced fairness, exactly, and its explicit bound, always a little below. Points: the stationary law of the Markov chain under PF (equal to BMF for two classes on two resources) "
        "and under DRF. PF follows balanced fairness or does better "
        + (
            f"(at worst {100 * shortfall:.2f} % below it: class 1 at high unbalanced load)"
            if shortfall > 0
            else "at all points"
        )
        + "; DRF collapses at balanced load and starves class 2 at unbalanced load, although every policy here is stable up to load 1.",
        figure,
        numbers,
        checks,
    )


def validation(*, full: bool) -> Page:
    """Figure 11: balanced fairness and its bound against PF by simulation."""
    problem = talk_problem()
    loads = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) if full else np.array([0.3, 0.6, 0.8])
    fine = np.linspace(0.01, 0.95, 60)
    events = 3_000_000 if full else 300_000
    seeds = np.random.SeedSequence(1404_2266).spawn(2 * len(loads))
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
    numbers, inside, compared, below = {}, 0, 0, 0
    gains = {1: [], 2: []}
    bar = tqdm(total=2 * len(loads), desc="simulations", leave=False, disable=None)
    for ax, (name, mix) in zip(axes, MIXES.items(), strict=True):
        systems = [System.with_load(problem, mix, load) for load in fine]
        exact = np.array([balanced_fairness(system).service_rates for system in systems])
        bound = np.array([duration_bound(system).service_rates for system in systems])
        rates, widths = [], []
        for load in loads:
            system = System.with_load(problem, mix, load)
            run = simulate(
                system,
                ProportionalFair(),
                events=events,
                replications=10,
                confidence=0.99,
                rng=np.random.default_rng(seeds.pop()),
            )
            rates.append(run.service_rates)
            widths.append(run.half_widths["service_rates"])
            law = stationary(system, ProportionalFair())
            classes = slice(0, 1) if mix == (1, 1) else slice(0, 2)
            off = distance(run.service_rates, law.service_rates, run.half_widths["service_rates"])
            inside += int((off[classes] <= 1).sum())
            compared += 1 if mix == (1, 1) else 2
            gain = law.service_rates / balanced_fairness(system).service_rates - 1
            gains[1].append(gain[0])
            if mix != (1, 1):
                gains[2].append(gain[1])
            below += int((law.service_rates < duration_bound(system).service_rates)[classes].sum())
            bar.update()
        rates, widths = np.array(rates), np.array(widths)
        for i, (marker, fill) in enumerate(
            (("o", colour("PF")), ("s", "white"))[: 1 if mix == (1, 1) else 2]
        ):
            ax.plot(
                fine,
                exact[:, i],
                "-",
                color=colour("balanced fairness"),
                label="balanced fairness" if i == 0 else None,
            )
            ax.plot(fine, bound[:, i], "--", color=colour("bound"), label="bound" if i == 0 else None)
            ax.errorbar(
                loads,
                rates[:, i],
                yerr=widths[:, i],
                fmt=marker,
                ms=5,
                mfc=fill,
                capsize=3,
                color=colour("PF"),
                label="PF, simulation (99 % intervals)" + ("" if mix == (1, 1) else f", class {i + 1}"),
            )
        if mix != (1, 1):
            for i in range(2):
                ax.annotate(f"class {i + 1}", (fine[-1], exact[-1, i]), (4, 4), textcoords="offset points")
        ax.set(title=name, xlabel="load of the busiest resource", ylim=(0, 1.02), xlim=(0, 1.08))
        ax.legend(fontsize="small")
        numbers[name] = {
            "load of curves": fine,
            "balanced fairness": exact,
            "bound": bound,
            "load of points": loads,
            "PF simulated": rates,
            "half-width of 99 % interval": widths,
        }
    bar.close()
    axes[0].set_ylabel("mean service rate\n(1 = alone in the system)")
    # With coverage .99 and some 25 intervals, four or more misses have a probability below 2e-4.
    checks = [
        Check(
            "99 % intervals of the simulation that contain the mean service rate of the chain",
            f"at least {compared - 3} of {compared}",
            f"{inside} of {compared}",
            inside >= compared - 3,
        ),
        Check(
            "mean service rates of the chain under PF that lie below the bound", "0", str(below), below == 0
        ),
    ]
    return Page(
        "fig11_validation",
        "11. Validation: balanced fairness and its bound against PF, simulated",
        'Slide "Validation".',
        f"Ten replications of {events:,} events each per point; most intervals are narrower than the marks. At these loads balanced fairness predicts the mean service rates of PF (by its Markov chain) "
        f"within {100 * np.abs(gains[1]).max():.1f} per cent, but for class 2 at unbalanced load, which gets up to {100 * max(gains[2]):.0f} per cent more under PF. "
        "The bound lies below the rates of PF throughout: it is safe for dimensioning here.",
        figure,
        numbers,
        checks,
    )

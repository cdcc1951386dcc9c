r"""Lemmas 3.1 and 3.2: how many rounds DC-DRF takes, and how much work that is.

With the rates :math:`\mu_r` of the resources frozen at their first values and :math:`c` the smallest ratio of two of
them, Lemma 3.1 bounds the rounds by

.. math:: t \le 1 + \frac{\log c}{\log(1 - \varepsilon)}.

Rates are not frozen: they fall when tenants stop. But they only fall. A resource of which the part s is left at the
level y has had the mean rate :math:`(1 - s)/y` and has that rate at most from now on, so it fills up at
:math:`y/(1 - s)` or later. As more than ε is left of every resource that is still demanded after a round,

.. math:: y_{t+1} \ge \frac{y_t}{1 - \varepsilon}, \qquad t \le 1 + \frac{\log(y_t/y_1)}{-\log(1 - \varepsilon)}
   \le 1 + \frac{\log n}{-\log(1 - \varepsilon)}

for n tenants of equal weight, whose levels lie between 1 and n: a bound of the same form without either assumption.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import sparse

from examples.dcdrf_figures.instances import CONFIGURATIONS, GREY, OTHERS, SEED, profile, scale
from examples.dcdrf_figures.measuring import exponent, least_seconds, seconds_text
from examples.gallery import Check, Page, Table
from fairness.cloud import HARD_FAMILIES, Rounds, SparseDemands, dcdrf, demand_profile
from fairness.cloud.instances.families import chain_epsilon

__all__ = ["rounds_and_work"]

FIXED = 1e-3
"""The epsilon with which work is measured against size."""

NAMES = {"G0": "profile G0", "chain": "chain (pathological)", "frozen": "G0, rates frozen"}
COLOURS = {
    "G0": CONFIGURATIONS["sDC-DRF"],
    "chain": OTHERS[0],
    "frozen": OTHERS[1],
}
MARKERS = {"G0": "o", "chain": "^", "frozen": "s"}


def rounds_and_work(*, full: bool) -> Page:
    """Draw rounds of DC-DRF against epsilon beside the bounds, and its work against the number of entries."""
    n_tenants, n_resources = (100_000, 10_000) if full else (10_000, 1_000)
    epsilons = np.logspace(-1, -5 if full else -4, 13 if full else 9)
    instances = {
        "G0": demand_profile("G0", n_tenants, n_resources, rng=SEED),
        "chain": HARD_FAMILIES["chain"](n_tenants, n_resources, rng=SEED),
    }
    results = {
        name: [dcdrf(demands, float(e), threads=1) for e in epsilons] for name, demands in instances.items()
    }
    counts = {name: np.array([result.rounds for result in found]) for name, found in results.items()}
    counts["frozen"] = np.array([_frozen_rounds(instances["G0"], e) for e in epsilons])
    ratio = _smallest_ratio(instances["G0"])
    lemma = 1 + np.log(ratio) / np.log1p(-epsilons)
    general = 1 - np.log(n_tenants) / np.log1p(-epsilons)
    figure = Figure(figsize=(13.5, 5.6), layout="constrained")
    axes = figure.subplot_mosaic([["rounds", "seconds"], ["rounds", "operations"]], width_ratios=(1.25, 1))
    _draw_rounds(axes["rounds"], epsilons, counts, lemma, general, ratio, n_tenants, n_resources)
    rows = _work(full)
    slope = _draw_work(axes["seconds"], axes["operations"], rows)

    everything = [result for found in results.values() for result in found]
    steepness = min(_steepness(result) for result in everything)
    gentle = epsilons < chain_epsilon(n_tenants, n_resources)
    beyond = counts["G0"] > lemma
    more = counts["G0"] / counts["frozen"]
    checks = [
        Check(
            f"Lemma 3.1, rates frozen, c = {ratio:.3f}: rounds ≤ 1 + log c / log(1 − ε) for all {len(epsilons)} ε",
            "yes",
            f"at most {(counts['frozen'] / lemma).max():.2f} of the bound",
            bool((counts["frozen"] <= lemma).all()),
        ),
        Check(
            "rounds of the algorithm, which updates the rates, within the bound for frozen ones",
            "not claimed",
            f"beyond it for {beyond.sum()} of {len(epsilons)} ε; {more.min():.2f} to {more.max():.2f} times the rounds with frozen rates",
            None,
        ),
        Check(
            f"levels of successive rounds rise by 1/(1 − ε) at least ({len(everything)} runs, both families)",
            "at least 1",
            f"smallest rise · (1 − ε) = {steepness:.6f}",
            # Rounding of sums of up to n rates.
            steepness >= 1 - 1e-9,
        ),
        Check(
            "so rounds ≤ 1 + log n / −log(1 − ε) without assumptions (equal weights)",
            "yes",
            f"at most {(counts['G0'] / general).max():.2f} of the bound in G0, {(counts['chain'] / general).max():.2f} in the chain",
            all(bool((counts[name] <= general).all()) for name in instances),
        ),
        Check(
            f"pathological inputs need |R| rounds (section 3); the chain does with ε below {chain_epsilon(n_tenants, n_resources):.1e}",
            f"{n_resources:,} for {gentle.sum()} ε",
            f"{(counts['chain'][gentle] == n_resources).sum()} of {gentle.sum()}",
            bool(gentle.any() and (counts["chain"][gentle] == n_resources).all()),
        ),
        Check(
            f"certificates of DC-DRF ({len(everything)} runs)",
            "residual at most 1e-09",
            f"largest residual {max(result.certificate.residual for result in everything):.1e}",
            all(result.certificate.holds for result in everything),
        ),
        Check(
            f"Lemma 3.2 with ε = {FIXED:g} fixed: time grows linearly with the entries",
            "exponent 1 if rounds are constant",
            f"exponent {slope:.2f}; rounds {rows[0]['rounds']:,} to {rows[-1]['rounds']:,}",
            None,
        ),
    ]
    last = rows[-1]
    return Page(
        "dcdrf07_lemmas",
        "7. Rounds and work: Lemmas 3.1 and 3.2",
        "Lemmas 3.1 and 3.2 (no figure). Lemma 3.1 prints O(−1/log(1 − ε)) and so hides the numerator log c of its proof, where c is the smallest ratio of two resources' rates: how fast they fill up at first, the paper's μ. "
        f"Rounds: {n_tenants:,} tenants, {n_resources:,} resources, equal weights. Work: profile G0, ten tenants per resource, ε = {FIXED:g}, one thread.",
        "The paper proves that, with rates frozen at their first values, rounds do not grow with the resources, and that time is linear for a fixed number of rounds; pathological demands, which need a round per resource, it takes for irrelevant in practice. "
        f"Rates are not frozen in the algorithm: it takes {more.min():.1f} to {more.max():.1f} times the rounds that frozen rates would take here, and exceeds their bound for {beyond.sum()} of {len(epsilons)} ε. "
        f"Yet rates only fall, and that alone bounds the rounds by 1 + log n / −log(1 − ε) for any demands (equal weights); the chain of demands, made to need one round per resource, comes within a factor of {1 / (counts['chain'] / general).max():.1f} of it. "
        f"With ε = {FIXED:g} the rounds still grow from {rows[0]['rounds']:,} to {last['rounds']:,} with the size (right). Of the operations of Algorithm 2 as printed, most ask every tenant in every round whether it still grows (line 16: "
        f"{last['line 16']:.0f} of {last['printed']:.0f} per entry at the right end); DC-DRF in this library asks exhausted resources for their tenants instead, with the same result, and {last['ours']:.1f} are left. "
        "Exact filling by events has no rounds: none of these bounds matters to it, and an entry is touched four times at any size.",
        figure,
        {
            "epsilon": epsilons,
            "rounds": counts,
            "smallest ratio of rates": ratio,
            "bound of Lemma 3.1": lemma,
            "bound without assumptions": general,
            "work": rows,
            "exponent of seconds": slope,
        },
        checks,
        [
            Table(
                f"Operations per entry with ε = {FIXED:g}, counted as in Lemma 3.2: lines 8 and 17 pass over each entry once, line 16 over the tenants and lines 13 and 15 over the resources in every round.",
                [
                    "tenants",
                    "entries",
                    "rounds",
                    "lines 8, 17",
                    "line 16",
                    "lines 13, 15",
                    "here, without line 16",
                    "seconds",
                    "ns per entry",
                ],
                [
                    [
                        f"{row['tenants']:,}",
                        f"{row['entries']:,}",
                        f"{row['rounds']:,}",
                        "2",
                        f"{row['line 16']:.2f}",
                        f"{row['lines 13, 15']:.2f}",
                        f"{row['ours']:.2f}",
                        seconds_text(row["seconds"]),
                        f"{1e9 * row['seconds'] / row['entries']:.0f}",
                    ]
                    for row in rows
                ],
            )
        ],
    )


def _smallest_ratio(demands: SparseDemands) -> float:
    """Smallest ratio c of the rates of two resources that somebody demands."""
    rates = _rates(demands)
    demanded = rates[rates > 0]
    return float(demanded.min() / demanded.max())


def _rates(demands: SparseDemands) -> np.ndarray:
    """First rates of the resources, for equal weights."""
    return np.asarray(demands.matrix().astype(float).T @ (1 / (demands.n_tenants * demands.largest)))


def _frozen_rounds(demands: SparseDemands, epsilon: float) -> int:
    """Rounds of DC-DRF when the rates stay at their first values, as Lemma 3.1 assumes.

    A resource is at the level y full for the part mu_r y. The demanded resource of the largest rate decides the
    round, and those within 1 - epsilon of its rate are exhausted with it.
    """
    by_resource = sparse.csc_array(demands.matrix())
    rates = _rates(demands)
    growing = np.ones(demands.n_tenants, dtype=bool)
    left = np.diff(by_resource.indptr)
    order = np.argsort(-rates)
    rounds = place = 0
    while growing.any():
        while left[order[place]] == 0:
            place += 1
        rounds += 1
        least = (1 - epsilon) * rates[order[place]]
        while place < len(order) and rates[order[place]] >= least:
            r = order[place]
            place += 1
            if left[r]:
                tenants = by_resource.indices[by_resource.indptr[r] : by_resource.indptr[r + 1]]
                tenants = tenants[growing[tenants]]
                growing[tenants] = False
                lost = np.concatenate(
                    [demands.columns[demands.starts[i] : demands.starts[i + 1]] for i in tenants]
                )
                left -= np.bincount(lost, minlength=len(left))
    return rounds


def _steepness(result: Rounds) -> float:
    """Smallest rise of the level from round to round, times 1 - epsilon; not below 1."""
    levels = result.round_levels
    if len(levels) == 1:
        return np.inf
    return float((levels[1:] / levels[:-1]).min() * (1 - result.epsilon))


def _work(full: bool) -> list[dict[str, float]]:
    """DC-DRF with one epsilon at several sizes, ten tenants per resource."""
    sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000] if full else [3_000, 10_000, 30_000]
    rows = []
    for n_tenants in sizes:
        size = n_tenants, n_tenants // 10
        demands = profile("G0", full) if size == scale(full) else demand_profile("G0", *size, rng=SEED)
        result, seconds = least_seconds(partial(dcdrf, demands, FIXED, threads=1), lasting=0.2)
        entries = demands.n_entries
        tenants, resources = (result.rounds * number / entries for number in size)
        rows.append(
            {
                "tenants": n_tenants,
                "entries": entries,
                "rounds": result.rounds,
                "seconds": seconds,
                "line 16": tenants,
                "lines 13, 15": 2 * resources,
                "printed": 2 + tenants + 2 * resources,
                "ours": 2 + 2 * resources,
            }
        )
    return rows


def _draw_rounds(
    axes: Axes,
    epsilons: np.ndarray,
    counts: dict[str, np.ndarray],
    lemma: np.ndarray,
    general: np.ndarray,
    ratio: float,
    n_tenants: int,
    n_resources: int,
) -> None:
    x = -1 / np.log1p(-epsilons)
    for name in ("chain", "G0", "frozen"):
        axes.loglog(
            x, counts[name], MARKERS[name], linestyle="-", color=COLOURS[name], label=f"DC-DRF, {NAMES[name]}"
        )
    axes.loglog(
        x, general, "-.", color="black", linewidth=1, label=f"bound without assumptions, n = {n_tenants:,}"
    )
    axes.loglog(x, lemma, "--", color=GREY, linewidth=1.2, label=f"Lemma 3.1, rates frozen, c = {ratio:.2f}")
    axes.axhline(n_resources, color=GREY, linewidth=0.8, linestyle=":")
    axes.text(x[0], n_resources * 1.08, f"{n_resources:,} resources", fontsize=8, color=GREY, va="bottom")
    axes.set(
        xlabel="−1 / log(1 − ε), about 1/ε",
        ylabel="rounds",
        title="Rounds against ε",
        ylim=(1.5, 30 * n_resources),
    )
    axes.legend(loc="upper left", fontsize=8, frameon=False)
    axes.grid(alpha=0.3)


def _draw_work(above: Axes, below: Axes, rows: list[dict[str, float]]) -> float:
    """Seconds and operations; the exponent of the seconds."""
    entries, seconds = (np.array([row[key] for row in rows]) for key in ("entries", "seconds"))
    slope = exponent(entries, seconds)
    above.loglog(entries, seconds, "o-", color=COLOURS["G0"], label=f"DC-DRF: slope {slope:.2f}")
    above.loglog(entries, seconds[0] * entries / entries[0], "--", color=GREY, linewidth=1, label="slope 1")
    above.legend(loc="upper left", fontsize=9, frameon=False)
    above.set(ylabel="seconds, one thread", title=f"Work with ε = {FIXED:g}")
    for key, colour, style, label in (
        ("printed", CONFIGURATIONS["DC-DRF"], "-", "Algorithm 2 as printed"),
        ("line 16", CONFIGURATIONS["DC-DRF"], ":", "of these, line 16"),
        ("ours", COLOURS["G0"], "-", "without line 16 (here)"),
    ):
        below.loglog(
            entries, [row[key] for row in rows], "o", linestyle=style, color=colour, markersize=4, label=label
        )
    for row in rows:
        below.annotate(
            f"{row['rounds']:,} rounds",
            (row["entries"], row["printed"]),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=7,
        )
    below.set(xlabel="entries", ylabel="operations per entry", ylim=(1, 12 * rows[-1]["printed"]))
    below.legend(loc="upper left", fontsize=8, ncols=3, frameon=False)
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.margins(x=0.1)
    return slope

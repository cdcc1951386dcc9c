"""Scaling study: time and memory of exact event-driven EDRF from ten thousand tenants to ten million."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import psutil
from matplotlib.figure import Figure

from examples.dcdrf_figures.instances import CONFIGURATIONS, GREY, OTHERS, SEED
from examples.dcdrf_figures.measuring import exponent, least_seconds
from examples.gallery import Check, Page, Table
from fairness.cloud import demand_profile, edrf

__all__ = ["scaling"]

LONGEST = 32
"""Longest demand vector, so that ten million tenants fit into the memory of a laptop (170 million entries)."""

NEEDED = 8 * 2**30
"""Free memory with which ten million tenants are tried."""

GIB = 2**30


def scaling(*, full: bool) -> Page:
    """Draw time and memory against the number of entries; slopes in log-log."""
    sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000] if full else [10_000, 30_000, 100_000]
    left_out = ""
    if full:
        if psutil.virtual_memory().available >= NEEDED:
            sizes += [3_000_000, 10_000_000]
        else:
            left_out = f" (Three and ten million tenants were left out: less than {NEEDED // GIB} GiB of memory are free here.)"
    rows = [_measure(n_tenants) for n_tenants in sizes]
    entries, seconds, product, above, input_bytes = (
        np.array([row[key] for row in rows]) for key in ("entries", "seconds", "product", "above", "input")
    )
    slope = exponent(entries, seconds)
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for values, name, colour in (
        (seconds, "EDRF by events", CONFIGURATIONS["EDRF by events"]),
        (product, "one sparse product $A^T w$", GREY),
    ):
        label = f"{name}: slope {exponent(entries, values):.2f}"
        left.loglog(entries, values, "o-", color=colour, label=label)
    left.set(ylabel="seconds", title="Time")
    for values, name, colour in (
        (input_bytes, "demands (single precision)", OTHERS[0]),
        (above, "what EDRF needs besides", CONFIGURATIONS["EDRF by events"]),
    ):
        right.loglog(entries, values / GIB, "o-", color=colour, label=name)
    right.set(ylabel="memory in GiB", title="Memory")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.margins(0.08)
        axes.set_xlabel("positive demands (entries), millions")
        axes.set_xticks(entries, [f"{value / 1e6:.3g}" for value in entries])
        axes.set_xticks([], minor=True)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False, fontsize="small")
    table = Table(
        f"Profile U0 with vectors of 2 to {LONGEST} resources, ten tenants per resource. Aᵀw is the yardstick: the product of the transposed matrix of demands with a vector, on one thread.",
        (
            "tenants",
            "resources",
            "entries",
            "seconds",
            "in products Aᵀw",
            "events",
            "memory besides the demands",
            "residual",
        ),
        [
            (
                f"{row['tenants']:,}",
                f"{row['tenants'] // 10:,}",
                f"{row['entries']:,}",
                f"{row['seconds']:.3g}",
                f"{row['seconds'] / row['product']:.1f}",
                f"{row['events']:,}",
                f"{row['above'] / 2**20:,.0f} MiB",
                f"{row['residual']:.1e}",
            )
            for row in rows
        ],
    )
    worst = max(row["residual"] for row in rows)
    return Page(
        "dcdrf08_scaling",
        "8. How exact EDRF grows with the data centre",
        "Beyond the paper, whose largest instance has a million tenants (Figure 3, right, for its own baseline)",
        "The paper saw the time of plain DRF grow faster than in proportion to the scale, and calls exact EDRF prohibitive at datacenter scale. Filled one event at a time, an entry is touched "
        f"four times, whatever the number of events. Here time grows as the power {slope:.2f} of the entries (1 would be in proportion), and that of a plain product with the matrix of demands as the power {exponent(entries, product):.2f}; "
        f"a likely reason for more than 1 is that the tables of the resources outgrow the caches of the processor.{left_out} Seconds are the better of two runs after a first on this machine, all cores; memory is the peak of what EDRF allocates while the demands lie in memory already.",
        figure,
        {"rows": rows, "slope": slope},
        [
            Check("largest residual of all certificates", "<= 1e-12", f"{worst:.1e}", worst <= 1e-12),
            Check("memory besides the demands, per entry", "-", f"{above[-1] / entries[-1]:.1f} bytes", None),
            Check("slope of time against entries, log-log", "-", f"{slope:.2f}", None),
        ],
        [table],
    )


def _measure(n_tenants: int) -> dict[str, float]:
    demands = demand_profile("U0", n_tenants, n_tenants // 10, rng=SEED, longest=LONGEST)
    matrix, ones = demands.matrix(), np.ones(n_tenants, dtype=np.float32)
    _, product = least_seconds(lambda: matrix.T @ ones, repeats=2)
    result, seconds = least_seconds(partial(edrf, demands), repeats=2)
    tracemalloc.start()
    edrf(demands)
    above = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "tenants": n_tenants,
        "entries": demands.n_entries,
        "seconds": seconds,
        "product": product,
        "events": result.events,
        "above": above,
        "input": demands.starts.nbytes + demands.columns.nbytes + demands.values.nbytes,
        "residual": result.certificate.residual,
    }

"""Backbones under gravity traffic: how much they carry, and what flows get under each policy."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.axes import Axes

from capacity import stability_region
from examples.gallery import EXACT, Check, Page, Table
from fairness import BottleneckMax, MaxMin, ProportionalFair
from fairness.catalogue import colour
from fairness.model.problem import FloatArray
from queueing import System, duration_bound
from queueing.networks.backbones import BACKBONES
from queueing.networks.gravity import GravityTraffic, gravity_traffic
from queueing.networks.pictures import plot_network

__all__ = ["MAPPED", "POLICIES", "Study", "backbone", "draw_map", "study_of"]

POLICIES = (ProportionalFair(), MaxMin(), BottleneckMax())
MAPPED = "Abilene"


@dataclass(frozen=True)
class Study:
    """One backbone, each cable with its capacity in each direction, and its traffic on shortest cables."""

    graph: nx.DiGraph
    traffic: GravityTraffic
    rates: dict[str, FloatArray]

    @property
    def unit(self) -> str:
        """Unit of the capacities."""
        return str(self.graph.graph["unit"])


def backbone(*, full: bool) -> Page:
    """Map with loads, static rates of long flows, bounds on mean rates; a table of four backbones."""
    names = list(BACKBONES) if full else ["Abilene", "NSFNET"]
    studies = {name: study_of(name) for name in names}
    mapped = studies[MAPPED]
    figure, axes = plt.subplots(
        1, 3, figsize=(16, 4.8), layout="constrained", gridspec_kw={"width_ratios": [1.35, 1, 1]}
    )
    draw_map(axes[0], mapped)
    _static(axes[1], mapped)
    curves = _bounds(axes[2], mapped, 60 if full else 15)
    traffic = mapped.traffic
    largest = traffic.largest_scale
    return Page(
        "backbone",
        "4. A backbone",
        "Data networks as resource sharing (slide \"Data networks\"): a flow holds one unit on each link of its route. Gravity traffic after Zhang et al. (SIGMETRICS 2003) in proportion to populations; sources of the graphs in queueing/networks/backbones/data.",
        f"{MAPPED} in 2005 with the traffic of its {traffic.problem.n_classes} ordered pairs of cities: all traffic together can grow to {largest:.3g} {mapped.unit}, then {traffic.bottleneck} is full (left). With one long flow per pair (middle), max-min fairness serves "
        f"the flows with the least rate best and PF carries {100 * (mapped.rates['PF'].sum() / mapped.rates['MMF'].sum() - 1):.1f} per cent more in all; BMF is max-min fairness here, because a flow takes the same share of each link of its capacity. "
        "With flows that come and go (right) the bound for balanced fairness holds for all classes at once, far beyond what a Markov chain could hold: at half of the largest traffic, a flow of the median pair still gets "
        f"{np.interp(0.5, curves['load'], curves['median']):.2g} {mapped.unit}.",
        figure,
        {
            **{
                name: {
                    "largest traffic": study.traffic.largest_scale,
                    "relative loads": dict(zip(study.traffic.problem.resources, study.traffic.relative_loads * study.traffic.largest_scale, strict=True)),
                    **{f"{policy}, rates of one flow per pair": rates for policy, rates in study.rates.items()},
                }
                for name, study in studies.items()
            },
            f"{MAPPED}, bounds": curves,
        },
        [check for name, study in studies.items() for check in _checks(name, study)],
        [_table(studies)],
    )  # fmt: skip


def study_of(name: str) -> Study:
    """Gravity traffic on a backbone by its name, with the rates of one long flow per pair."""
    graph = BACKBONES[name]()
    weights = "population" if "populations" in graph.graph["sources"] else None
    arcs = graph.to_directed()
    traffic = gravity_traffic(arcs, 1.0, weights=weights, length="km")
    ones = np.ones(traffic.problem.n_classes)
    return Study(arcs, traffic, {policy.name: policy(traffic.problem, ones) for policy in POLICIES})


def draw_map(ax: Axes, study: Study, load: float = 1.0) -> None:
    """Map of the links, shaded by the part in use when all traffic has this load."""
    used = load * study.traffic.relative_loads * study.traffic.largest_scale
    total = load * study.traffic.largest_scale
    part = "its largest" if load == 1 else f"{load:g} of its largest"
    title = f"{MAPPED} at {part} gravity traffic, {total:.3g} {study.unit}"
    plot_network(study.graph, used, ax, title=title)


def _static(ax: Axes, study: Study) -> None:
    for policy, style in (("PF", "-"), ("MMF", "-"), ("BMF", "--")):
        rates = np.sort(study.rates[policy])
        ax.step(
            rates,
            np.arange(1, len(rates) + 1) / len(rates),
            style,
            where="post",
            color=colour(policy),
            label=f"{policy}: {rates.sum():.4g} {study.unit} in all",
        )
    ax.set(
        xscale="log",
        xlabel=f"rate of the flow ({study.unit})",
        ylabel="part of the flows with at most this rate",
        title="One long flow per pair of cities",
    )
    ax.set_xticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
    ax.minorticks_off()
    ax.legend(fontsize="small", loc="lower right")


def _bounds(ax: Axes, study: Study, points: int) -> dict[str, FloatArray]:
    loads = np.linspace(0.02, 0.98, points)
    problem = study.traffic.problem
    rates = np.array(
        [duration_bound(System.with_load(problem, study.traffic.loads, load)).service_rates for load in loads]
    )
    for k, name in enumerate(("best pair", "median", "worst pair")):
        values = [rates.max(axis=1), np.median(rates, axis=1), rates.min(axis=1)][k]
        ax.plot(loads, values, ("--", "-", ":")[k], color=colour("bound"), label=name)
    ax.set(
        xlabel=f"traffic over the largest, {study.traffic.largest_scale:.3g} {study.unit}",
        ylabel=f"mean rate of a flow, at least ({study.unit})",
        xlim=(0, 1),
        ylim=(0, None),
        title="Flows that come and go (bound)",
    )
    ax.legend(fontsize="small")
    return {
        "load": loads,
        "best": rates.max(axis=1),
        "median": np.median(rates, axis=1),
        "worst": rates.min(axis=1),
    }


def _table(studies: dict[str, Study]) -> Table:
    rows = []
    for name, study in studies.items():
        graph, traffic = study.graph, study.traffic
        half = duration_bound(System.with_load(traffic.problem, traffic.loads, 0.5)).service_rates
        rows.append(
            [
                f"{name} ({graph.graph['year']})",
                f"{graph.number_of_nodes()}, {graph.number_of_edges() // 2}",
                str(traffic.problem.n_classes),
                f"{traffic.largest_scale:.4g} {study.unit}",
                traffic.bottleneck,
                f"{study.rates['PF'].sum():.4g}, {study.rates['PF'].min():.3g}",
                f"{study.rates['MMF'].sum():.4g}, {study.rates['MMF'].min():.3g}",
                f"{np.median(half):.3g}, {half.min():.3g}",
            ]
        )
    return Table(
        "Gravity traffic by population (NSFNET: by capacity) on the shortest cables; rates in the unit of the capacities",
        ["backbone", "nodes, cables", "classes", "largest traffic", "full first", "PF: sum, least rate", "max-min = BMF: sum, least", "at half of the largest traffic, median and least mean rate (bound)"],
        rows,
    )  # fmt: skip


def _checks(name: str, study: Study) -> list[Check]:
    problem, loads = study.traffic.problem, study.traffic.loads
    carried = dict.fromkeys(study.graph.edges, 0.0)
    for (u, v), load in zip(study.traffic.pairs, loads, strict=True):
        for arc in nx.utils.pairwise(nx.shortest_path(study.graph, u, v, weight="km")):
            carried[arc] += load
    scale = min(study.graph.edges[arc]["capacity"] / load for arc, load in carried.items() if load > 0)
    region = stability_region(problem)
    ours = float(region.max_scale(loads)) * loads.sum()
    same = float(np.abs(study.rates["BMF"] / study.rates["MMF"] - 1).max())
    usage = study.rates["PF"] @ problem.demands / problem.capacities
    # One class at a time: alone a flow has the capacity of the narrowest cable of its route.
    narrow = np.where(problem.demands > 0, problem.capacities, np.inf).min(axis=1)
    idle = duration_bound(System(problem, np.zeros(problem.n_classes))).service_rates
    # PF maximises the sum of logarithms, so sum_i y_i / x_i <= n for every feasible y (here: max-min).
    gain = float((study.rates["MMF"] / study.rates["PF"]).sum()) / problem.n_classes
    return [
        Check(f"{name}: largest traffic, from the stability region and route by route ({study.unit})", f"{scale:.6g}", f"{ours:.6g}", abs(ours / scale - 1) < EXACT),
        Check(f"{name}: BMF is max-min fairness when flows hold one unit on each link, relative difference", "< 1e-9", f"{same:.1e}", same < 1e-9),
        Check(f"{name}: largest utilization under PF", "1", f"{usage.max():.9f}", abs(usage.max() - 1) < 1e-9),
        Check(f"{name}: mean of max-min rates over PF rates is at most 1 (PF maximises the sum of logarithms)", "<= 1", f"{gain:.6f}", gain <= 1 + 1e-9),
        Check(f"{name}: a flow alone in the network has the narrowest cable of its route", "all", "all" if np.allclose(idle, narrow, rtol=EXACT) else "not all", bool(np.allclose(idle, narrow, rtol=EXACT))),
    ]  # fmt: skip

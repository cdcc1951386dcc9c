"""The exchange of contributions: the worked example, and the numbers of the experiment."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness.display.colours import part_colour
from fairness.timed.exchange import Exchange, exchange
from proofs.catalogue.tdrf.claims import BROUGHT, NEEDS
from proofs.catalogue.tdrf.mechanism import SECTION_22
from proofs.definitions import fractions

__all__ = ["CONTRIBUTIONS", "DEMANDS", "exchange_rule"]


def _exact(rows: list[list[float]]) -> list[list[Fraction]]:
    return [[Fraction(str(v)) for v in row] for row in rows]


CONTRIBUTIONS = fractions(BROUGHT)
"""What users 1 to 4 of the experiment bring."""

DEMANDS = fractions(NEEDS)
"""What a task of users 1 to 4 needs."""


def exchange_rule(*, full: bool) -> Page:
    """Section 2.2 and the exchanges at t1, t3 and t4."""
    worked = exchange(*map(fractions, SECTION_22.values()))
    first, third, fourth = (_among(users) for users in ((0, 1), (1, 2), (1, 2, 3)))
    other_order = _among((3, 1, 2))
    checks = [
        _compare("section 2.2: users i, j", worked.holdings, [[0, 0.6, 0.3], [0.6, 0, 0.3]]),
        _compare("t1: users 1, 2", first.holdings, [[0.9, 0.2, 0], [0, 0.3, 0.9]]),
    ]
    have = sum(CONTRIBUTIONS[u][2] for u in (1, 2))
    printed = Fraction("0.9") + Fraction("0.5")
    checks.append(
        Check.refuted(
            "t3: users 2, 3",
            "(0, .3, .9), (.1, 0, .5)",
            _rows(third.holdings),
            printed > have,
            f"the printed holdings add up to {float(printed):g} of r3; the two users brought {float(have):g}",
        )
    )
    needed = Fraction("0.7")
    brought = sum(CONTRIBUTIONS[u][0] for u in (1, 2, 3))
    checks.append(
        Check.refuted(
            "t4: user 4",
            "(.7, .2, 0)",
            f"{_row(fourth.holdings[2])} in the order 2, 3, 4; {_row(other_order.holdings[0])} in the order 4, 2, 3",
            needed == brought,
            f"{float(needed):g} of r1 is all that users 2, 3 and 4 brought; user 3, who needs r1, would hold none",
        )
    )
    sums = {"1, 2, 3": (0, 1, 2), "2, 3, 4": (1, 2, 3)}
    for who, users in sums.items():
        total = [sum(CONTRIBUTIONS[u][r] for u in users) for r in range(3)]
        checks.append(
            Check.refuted(
                f"contributions of users {who}",
                "at most R = (1, 1, 1)",
                _row(total),
                max(total) > 1,
                "they bring more than the system has",
            )
        )

    figure, axes = plt.subplots(1, 4, figsize=(13, 4.2), layout="constrained", sharey=True)
    panels = [
        ("section 2.2", worked, {"user i": 4, "user j": 5}),
        ("t1", first, {"user 1": 0, "user 2": 1}),
        ("t3", third, {"user 2": 1, "user 3": 2}),
        ("t4 (order 2, 3, 4)", fourth, {"user 2": 1, "user 3": 2, "user 4": 3}),
    ]
    for ax, (title, result, names) in zip(axes, panels, strict=True):
        _bars(ax, result, names)
        ax.set_title(title)
    axes[0].set_ylabel("units of resource")
    return Page(
        "tdrf01_exchange",
        "1. Exchange: what one cannot use for what another cannot",
        "Section 2.2 and the experiment (Algorithm 1 of the paper is missing).",
        "Outline: what a user brings of each resource. Bar: what it holds after the exchange. Two users swap, one for one, what the one cannot use for what the other cannot. This rule "
        "gives the worked example and t1 exactly. No single rule gives all printed numbers: those of t3 and t4 are not feasible or leave user 3 with nothing.",
        figure,
        {
            title: {"holdings": _floats(r.holdings), "left over": _floats(r.left_over)}
            for title, r, _ in panels
        },
        checks,
        [
            Table(
                "Swaps at t4, in the order 2, 3, 4",
                ["gives", "to", "amount", "for"],
                [
                    [
                        f"user {s.first + 2}: r{s.gives + 1}",
                        f"user {s.second + 2}",
                        f"{float(s.amount):g}",
                        f"r{s.takes + 1}",
                    ]
                    for s in fourth.swaps
                ],
            )
        ],
    )


def _among(users: tuple[int, ...]) -> Exchange:
    return exchange([CONTRIBUTIONS[u] for u in users], [DEMANDS[u] for u in users])


def _bars(ax: plt.Axes, result: Exchange, names: dict[str, int]) -> None:
    users, resources = result.contributions.shape
    for n, (name, tint) in enumerate(names.items()):
        place = np.arange(resources) + (n - (users - 1) / 2) * 0.27
        held = _floats(result.holdings)[n]
        bars = ax.bar(place, held, 0.25, color=part_colour(tint), label=name)
        ax.bar_label(bars, [f"{v:g}" for v in np.round(held, 6)], fontsize=7, padding=1)
        brought = _floats(result.contributions)[n]
        ax.bar(
            place,
            brought,
            0.25,
            fill=False,
            edgecolor="black",
            linewidth=1,
            label="" if n + 1 < users else "brought",
        )
    ax.set(xticks=range(resources), xticklabels=[f"r{r + 1}" for r in range(resources)], ylim=(0, 1.2))
    ax.legend(fontsize="small", loc="upper right")


def _compare(statement: str, ours: np.ndarray, printed: list[list[float]]) -> Check:
    same = bool((ours == np.array(_exact(printed))).all())
    return Check(statement, _rows(np.array(printed)), _rows(ours), same)


def _floats(values: np.ndarray) -> np.ndarray:
    return values.astype(float)


def _row(values: object) -> str:
    return "(" + ", ".join(f"{float(v):g}" for v in values) + ")"


def _rows(values: np.ndarray) -> str:
    return ", ".join(_row(row) for row in values)

"""Updates of the explorer: server time from a message of the browser to the data of all figures.

Every update moves a demand to where it has never been, so that nothing is kept from an earlier one. The
yardstick is one law of balanced fairness at the current load, in the same run: an update computes 26 of them
and all else. The rates of the policies follow in answers of their own, each of which a change may have to
wait for: the slowest of them counts too.
"""

from __future__ import annotations

import itertools
import time

from benchmarks.harness import Row, best_seconds
from fairqueues.explorer.model import POLICIES, State
from fairqueues.explorer.page import Page
from queueing import balanced_fairness

__all__ = ["rows"]

TARGET = 0.15
LOAD = "0.9"


def rows() -> list[Row]:
    result = []
    for classes, resources in ((2, 2), (3, 3), (6, 4)):
        base = State().resized(classes, resources)
        page = Page(base)
        page.show(base)
        yardstick = best_seconds(lambda base=base: balanced_fairness(base.system, tail=1e-6))
        times = {}
        steps = itertools.count(1)
        # The policy matters for the drift field of two classes only.
        for policy in POLICIES if classes == 2 else ("DRF",):

            def update(
                page: Page = page, base: State = base, policy: str = policy, steps: itertools.count = steps
            ) -> None:
                demand = str(1.0 + 0.01 * next(steps))
                fields = base.texts | {"load": LOAD, "demands-0-0": demand}
                answer = page.reply({"fields": fields, "policy": policy})
                assert not answer["errors"], answer

            times[policy] = best_seconds(update, repeat=5)
        slowest = max(times, key=lambda policy: times[policy])
        seconds = times[slowest]
        waits = []
        while not page.rates.view.complete:
            begin = time.perf_counter()
            page.reply({"more": True})
            waits.append(time.perf_counter() - begin)
        result.append(
            Row(
                f"explorer update, {classes} classes on {resources} resources, load {LOAD}",
                f"{1e3 * seconds:.0f} ms",
                f"< {1e3 * TARGET:.0f} ms",
                seconds < TARGET,
                f"slowest policy {slowest}; {seconds / yardstick:.0f} x one balanced fairness law",
            )
        )
        result.append(
            Row(
                f"explorer, rates of three policies, {classes} classes on {resources} resources",
                f"{sum(waits):.1f} s",
                f"each answer < {1e3 * TARGET:.0f} ms",
                max(waits, default=0.0) < TARGET,
                "floor: an answer is the mean of one policy at one load, which is not cut up; "
                f"{len(waits)} answers, the longest {1e3 * max(waits, default=0.0):.0f} ms",
            )
        )
    return result

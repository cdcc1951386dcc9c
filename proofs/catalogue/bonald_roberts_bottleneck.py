"""Bonald and Roberts (2014), continued: bottleneck-max fair (BMF) allocations exist, and may be many.

Existence follows a path. A common cap t on everybody's tasks is one more resource that never fills. With t
tiny it is everybody's bottleneck. On a piece of the path every user keeps its bottleneck, and all is linear
in t; at its end one user changes to another. The path cannot come back and is bounded, so that it ends,
where nobody follows the cap: at a BMF allocation.
"""

from __future__ import annotations

from typing import Any

from proofs.catalogue.bonald_roberts import SOURCE, implied, indexed, total
from proofs.claims import Computation, Enumeration, InWords, Step
from proofs.statement import Hypothesis, Question, Size, Statement

__all__ = ["STATEMENTS"]

# Demands (1, 1, 1), (2, 1, 3/2), (1, 2, 3/2): the third resource is the mean of the others.
THREE: list[list[Any]] = [[1, 1, 1], [2, 1, "3/2"], [1, 2, "3/2"]]


def _held(i: int, j: int) -> str:
    """Share of resource j that user i holds."""
    return f"{THREE[i - 1][j - 1]}*x{i}"


def _load(j: int) -> str:
    return total([_held(i, j) for i in (1, 2, 3)])


def _segment(question: Question) -> list[Step]:
    fits = {f"fits {j}": f"{_load(j)} <= 1" for j in (1, 2, 3)}
    full = {j: {f"full {j}": f"{_load(j)} == 1"} for j in (1, 2, 3)}
    steps = [
        implied(
            question,
            f"If bottleneck 3 is somebody's, the mean of the others, resource {j} is full, too.",
            fits | full[3],
            f"{_load(j)} >= 1",
        )
        for j in (1, 2)
    ]
    steps += [
        implied(
            question,
            f"If all have bottleneck {j}, they hold the same share of it, and resource {3 - j} overflows: "
            "so this cannot be.",
            full[j]
            | {
                f"largest {i} {k}": f"{_held(k, j)} <= {_held(i, j)}"
                for i in (1, 2, 3)
                for k in (1, 2, 3)
                if i != k
            },
            f"{_load(3 - j)} > 1",
        )
        for j in (1, 2)
    ]
    steps += [
        implied(
            question,
            f"In all other cases resources 1 and 2 are full, so that {says}.",
            full[1] | full[2],
            text,
        )
        for says, text in (("x2 = x3 = u", "x2 == x3"), ("x1 = 1 - 3u", "x1 == 1 - 3*x2"))
    ]
    steps.append(
        Step(
            "These are all cases, so that all BMF allocations are on this line.",
            InWords("A map names resource 3, or both 1 and 2, or only one of these."),
        )
    )
    line = {"line 1": "x1 == 1 - 3*u", "line 2": "x2 == u", "line 3": "x3 == u"}
    for user, bound in ((1, "u <= 2/9"), (2, "u >= 1/5")):
        steps += [
            implied(
                question,
                f"On this line, bottleneck {j} of user {user} makes {bound}"
                + (", and cannot be: user 3 would hold more of it." if (user, j) == (2, 2) else "."),
                line
                | {
                    f"largest {user} {k}": f"{_held(k, j)} <= {_held(user, j)}"
                    for k in (1, 2, 3)
                    if k != user
                }
                | {"full": f"{_load(j)} == 1"},
                bound,
            )
            for j in (1, 2, 3)
        ]
    between = line | {"above": "u >= 1/5", "below": "u <= 2/9"}
    steps += [
        implied(question, f"On the segment resource {j} is full.", between, f"{_load(j)} == 1")
        for j in (1, 2, 3)
    ]
    for i, j in enumerate((3, 1, 2), 1):
        steps += [
            implied(
                question,
                f"On the segment user {k} holds no more of resource {j} than user {i}.",
                between,
                f"{_held(k, j)} <= {_held(i, j)}",
            )
            for k in (1, 2, 3)
            if k != i
        ]
    return [
        *steps,
        Step(
            "The vertices of the allocations of all maps, by trying all square systems.",
            Computation(
                "bmf_vertices",
                {"demands": THREE, "capacities": [1, 1, 1]},
                [["1/3", "2/9", "2/9"], ["2/5", "1/5", "1/5"]],
            ),
        ),
    ]


INSTANCES: tuple[tuple[list[list[int]], list[str]], ...] = (
    ([[1, 3], [3, 2]], ["1/6", "1/4"]),
    ([[4, 1], [2, 1], [1, 4]], ["3/29", "6/29", "5/29"]),
    ([[3, 1], [2, 1], [1, 3]], ["4/31", "6/31", "7/31"]),
)


def _existence(question: Question) -> list[Step]:
    n = question.sizes["n"]
    capped = question.holds("cap")
    shares = indexed("h", n)
    steps = [
        implied(
            question,
            "Start: with a cap of at most 1/(nA), where A is the largest demand, everybody holds at most "
            "1/n ...",
            {"start": "n*x*A <= 1", "demand": "a <= A", "sign": "x >= 0", "users": "n > 0"},
            "n*x*a <= 1",
        ),
        implied(
            question,
            "... so that nobody is limited by a resource.",
            {f"small {i}": f"{n}*{h} <= 1" for i, h in enumerate(shares, 1)},
            f"{total(shares)} <= 1",
        ),
        implied(
            question,
            "A piece: tasks are linear in t, so that a condition that holds at both ends holds between them.",
            {"ends 1": "f >= 0", "ends 2": "g >= 0", "between 1": "w >= 0", "between 2": "w <= 1"},
            "(1 - w)*f + w*g >= 0",
        ),
        implied(
            question,
            "A change: where the share of a user meets the largest share of another full resource, that "
            "resource "
            "is a bottleneck of the user as well, and the path goes on with it.",
            {"largest": "h <= f", "meets": "x*a == f"},
            "h <= x*a",
        ),
        Step(
            "For demands in general position one user changes at a time, and of the two directions in t "
            "exactly "
            "one enters the new piece: the condition that was tight becomes slack in it.",
            InWords("So a change joins two pieces. Where a resource fills, its largest share follows it."),
        ),
        implied(
            question,
            "The path is bounded: nobody follows the cap once it exceeds what fits.",
            {"fits": "x*a <= 1", "demand": "a > 0", "end": "t*a > 1"},
            "x < t",
        ),
        Step(
            "There are finitely many pieces, at most one per map, and the first is the only one with a "
            "tiny cap. As "
            "each change joins two pieces, the path cannot come back. So it ends, where nobody follows the "
            "cap.",
            InWords(
                "Each map has at most one piece, since its tasks are linear in t and its conditions convex."
            ),
        ),
        Step(
            "Other demands are limits of demands in general position. Their BMF allocations are bounded, "
            "one map "
            "occurs infinitely often, and its conditions are closed, so that they hold in the limit.",
            InWords("Bolzano and Weierstrass."),
        ),
    ]
    for demands, end in INSTANCES:
        arguments: dict[str, Any] = {"demands": demands, "capacities": [1] * len(demands[0])}
        steps += [
            Step(
                f"Every piece of the path for {demands}: the conditions at both ends, and no gap.",
                Enumeration("bmf_path_pieces", arguments | ({} if capped else {"capped": False})),
            ),
            Step(f"Where it ends, for {demands}.", Computation("bmf_path_end", arguments, end)),
        ]
    return steps


STATEMENTS = (
    Statement(
        id="br-bmf-exists",
        source=SOURCE,
        place="slide on the existence of bottleneck-max fairness",
        words="A bottleneck-max fair allocation exists for all demands.",
        latex=r"\exists \varphi: \forall i\ \exists j:\ \varphi a_j = 1,\ \varphi_i a_{ij} = \max_k "
        r"\varphi_k a_{kj}",
        hypotheses=(
            Hypothesis("start", "the cap is tiny at first"),
            Hypothesis("demand", "demands are bounded, and positive somewhere"),
            Hypothesis("ends", "the conditions hold at the ends of a piece"),
            Hypothesis("largest", "nobody holds more than the largest share"),
            Hypothesis("meets", "the share of the user meets the largest of another resource"),
            Hypothesis("fits", "no resource holds more than its capacity"),
            Hypothesis("cap", "before its end, the path is under the cap"),
        ),
        scope="lemmas for all demands (the sum at the start for n = {n}); why the path ends in words; "
        "three complete paths, exactly",
        steps=_existence,
        sizes={"n": Size(3, 1, 6, "jobs", deep=5)},
        mutants=("start", "demand", "ends", "largest", "meets", "fits", "cap"),
        remark="In 2014 existence is a conjecture; a proof appears with hal-01243985. This one follows a "
        "cap.",
    ),
    Statement(
        id="br-bmf-segment",
        source=SOURCE,
        place="slide on uniqueness",
        words="With demands (1,1,1), (2,1,3/2), (1,2,3/2) the bottleneck-max fair allocations are exactly "
        "the "
        "segment of all (1-3u, u, u) with u from 1/5 to 2/9.",
        latex=r"\{(1-3u,u,u): 1/5 \le u \le 2/9\}",
        hypotheses=(
            Hypothesis("fits", "no resource holds more than its capacity"),
            Hypothesis("full", "a bottleneck is full"),
            Hypothesis("largest", "nobody holds more of the bottleneck of a user"),
            Hypothesis("line", "tasks are 1-3u, u and u"),
            Hypothesis("above", "u is at least 1/5"),
            Hypothesis("below", "u is at most 2/9"),
        ),
        scope="all maps from users to bottlenecks, all real tasks",
        steps=_segment,
        mutants=("fits", "full", "largest", "line", "above", "below"),
        remark="Its ends are DRF, (2/5, 1/5, 1/5), and PF, (1/3, 2/9, 2/9).",
    ),
)

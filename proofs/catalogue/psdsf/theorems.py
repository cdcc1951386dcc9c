"""PS-DSF: the divisions of a server, Theorems 1 and 2, and the case of one server."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.texts import each, signs, total
from proofs.claims import Enumeration, Implication, InWords, Step
from proofs.statement import Question, Size

__all__ = ["NEGATION", "SOURCE", "STATEMENTS"]

NEGATION = "not the conclusion"
SOURCE = 'J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017, arXiv:1611.00404'
STATEMENTS = Chapter(SOURCE)


USERS = Size(3, 1, 5, "users who hold something on the server")


@STATEMENTS.add(
    "psdsf-time-implies-resource",
    place="equation (11)",
    words="What fits when the users take turns on a server fits when they share each of its resources.",
    latex=r"\sum_n x_{ni}/\gamma_{ni}\le 1 \implies \sum_n x_{ni}d_{nr}\le c_{ir}",
    hypotheses={
        "alone": "the tasks of a user alone on the server fit (7)",
        "part": "no part of the time is negative",
        "tasks": "in the part u of the time a user runs u gamma tasks on average",
        "time": "the parts add up to at most 1",
        "capacity": "no capacity is negative",
    },
    scope="each server and resource; all reals, {n} users",
    sizes={"n": Size(4, 1, 6, "users")},
    mutants=("alone", "part", "time"),
)
def _time_implies_resource(question: Question) -> Iterator[Step]:
    users = range(1, question.sizes["n"] + 1)
    held = {"capacity": "c >= 0"}
    for n in users:
        held |= {
            f"alone {n}": f"g{n}*d{n} <= c",
            f"part {n}": f"u{n} >= 0",
            f"tasks {n}": f"u{n}*g{n} == x{n}",
        }
    held["time"] = f"{total('u@', users)} <= 1"
    sensible = signs(not_negative=" ".join(f"g{n} d{n}" for n in users))
    yield Step(
        "A user that has the part u of the time of a server holds at most the part u of each resource on "
        "average.",
        question.implies(
            held | sensible,
            f"{total('x@*d@', users)} <= c",
            "time * capacity",
            *(f"part {n} * alone {n}" for n in users),
        ),
        states=True,
    )


def _stopped(question: Question, n: int, higher: int, demand: str, limit: str, saturated: str) -> Implication:
    """Raising user 1 where it has a bottleneck: the last users stand higher, the others lose nothing."""
    users, others, top = range(1, n + 1), range(2, n - higher + 1), range(n - higher + 1, n + 1)
    held = each("no negative demand", f"{demand}@ >= 0", users)
    held |= {"demanded": f"{demand}1 > 0", saturated: f"{total(f'x@*{demand}@', users)} == {limit}"}
    held |= each("highest", f"x@*{demand}@ == 0", top)
    fixed = each("keeps", "y@ >= x@", others)
    fixed |= each("no negative tasks", "y@ >= 0", top)
    fixed["gains"] = "y1 > x1"
    fixed |= signs(not_negative=" ".join(f"x{p}" for p in users))
    return question.implies(
        held | fixed,
        f"{total(f'y@*{demand}@', users)} > {limit}",
        "demanded * gains",
        *(f"no negative demand {p} * keeps {p}" for p in others),
        *(f"no negative demand {p} * no negative tasks {p}" for p in top),
    )


def _spare(question: Question, n: int, higher: int, demand: str, limit: str, idle: bool) -> Implication:
    """Without a bottleneck there is room for user 1 once the higher users have left."""
    users = range(1, n + 1)
    held = each("no negative demand", f"{demand}@ >= 0", users)
    used = total(f"x@*{demand}@", users)
    fixed = each("tasks", "x@ >= 0", users)
    fixed |= (
        {"not full": f"{used} < {limit}"}
        if idle
        else {"fits": f"{used} <= {limit}", "held": f"x{n}*{demand}{n} > 0"}
    )
    left = total(f"x@*{demand}@", range(1, n - higher + 1))
    lost = (f"no negative demand {p} * tasks {p}" for p in range(n - higher + 1, n))
    return question.implies(held | fixed, f"{left} < {limit}", *lost, degree=1)


def _room(question: Question) -> Iterator[Step]:
    fixed = {
        "spare": "s > 0",
        "in each": "s <= f",
        "largest": "D > 0",
        "demand": "d <= D",
        "step": "e*D == s",
    }
    fixed["not negative"] = "d >= 0"
    yield Step(
        "With s the least spare amount and D the largest demand, e = s/D more tasks of the user are more "
        "than 0...",
        question.implies(fixed, "e > 0", f"{NEGATION} * largest"),
    )
    yield Step(
        "...and fit into the spare amount f of every resource.",
        question.implies(fixed | {"more": "e > 0"}, "e*d <= f", "more * demand"),
    )


@STATEMENTS.add(
    "psdsf-theorem-1",
    place="Theorem 1",
    words="With divided resources an allocation is PS-DSF if and only if every user has a bottleneck on "
    "every eligible server.",
    latex=r"\text{PS-DSF}\iff\forall n,i\,\exists r:\ \textstyle\sum_p x_{pi}d_{pr}=c_{ir},\ d_{nr}>0,\ "
    r"x_{pi}d_{pr}>0\Rightarrow s_{pi}/\varphi_p\le s_{ni}/\varphi_n",
    hypotheses={
        "saturated": "a bottleneck is full",
        "highest": "no user of a higher level holds any of a bottleneck",
        "demanded": "the user demands its bottleneck",
        "no negative demand": "no demand is negative",
    },
    scope="each user, server and resource; all reals, {n} users on the server, any number above the user; "
    "and a grid",
    sizes={"n": USERS},
    mutants=("saturated", "highest", "demanded"),
    remark="Definition 5 is read as in the paper's proof: nobody of no higher level loses tasks on the "
    "server. Who gains in total gains on some server, so its tasks may move. Counting only losses of totals "
    "makes it stronger; see psdsf-definition-5-for-totals.",
)
def _theorem_1(question: Question) -> Iterator[Step]:
    n = question.sizes["n"]
    for k in range(n):
        yield Step(
            f"With a bottleneck, and {k} of {n} users at higher levels, the user gains only if the "
            f"bottleneck overflows.",
            _stopped(question, n, k, "d", "c", "saturated"),
        )
    yield Step(
        "A demanded resource that is not full has room for the user.",
        _spare(question, n, 0, "d", "c", idle=True),
    )
    for k in range(1, n):
        yield Step(
            f"A full one that a higher user holds has room once the {k} higher users have left the server.",
            _spare(question, n, k, "d", "c", idle=False),
        )
    yield from _room(question)
    yield Step(
        "So the user gains without loss to its equals if and only if no demanded resource is its bottleneck.",
        InWords(
            "Both directions for each user and server; the least of finitely many positive amounts is "
            "positive."
        ),
    )
    yield Step(
        "On a grid of clusters and placements Definition 5 and the theorem agree.",
        Enumeration(
            "placements_by_both_definitions",
            {"division": "resource", "largest": 2, "saturated": question.holds("saturated")},
        ),
        states=True,
    )


@STATEMENTS.add(
    "psdsf-theorem-2",
    place="Theorem 2",
    words="With divided time an allocation is PS-DSF if and only if every server is always busy and serves "
    "its lowest levels only.",
    latex=r"\text{PS-DSF}\iff \sum_n x_{ni}/\gamma_{ni}=1,\ x_{pi}>0\Rightarrow s_{pi}/\varphi_p\le "
    r"s_{ni}/\varphi_n",
    hypotheses={
        "busy": "the server is always busy",
        "highest": "users of higher levels are not served",
        "demanded": "a task of the user takes time",
        "no negative demand": "no task takes negative time",
    },
    scope="each user and server; all reals, {n} users on the server, any number above the user; and a grid",
    sizes={"n": USERS},
    mutants=("busy", "highest", "demanded"),
)
def _theorem_2(question: Question) -> Iterator[Step]:
    n = question.sizes["n"]
    for k in range(n):
        yield Step(
            f"If the server is always busy and its {k} higher users of {n} are not served there, the user "
            f"gains only overtime.",
            _stopped(question, n, k, "t", "1", "busy"),
        )
    yield Step("An idle server has time for the user.", _spare(question, n, 0, "t", "1", idle=True))
    for k in range(1, n):
        yield Step(
            f"A busy server that serves a higher user has time once the {k} higher users have left.",
            _spare(question, n, k, "t", "1", idle=False),
        )
    yield from _room(question)
    yield Step(
        "On a grid of clusters and placements Definition 5 and the theorem agree.",
        Enumeration("placements_by_both_definitions", {"division": "time", "largest": 2}),
        states=True,
    )


@STATEMENTS.add(
    "psdsf-single-server",
    place="section I, contributions",
    words="On one server PS-DSF is weighted dominant resource fairness.",
    latex=r"s_{n1}=x_n\max_r d_{nr}/c_r",
    hypotheses={
        "dominant": "one resource stops the user when it is alone",
        "alone": "its tasks alone fit into the others (7)",
        "saturated": "a bottleneck is full",
        "highest": "no user of a higher level holds any of a bottleneck",
        "demanded": "the user demands its bottleneck",
        "no negative demand": "no demand is negative",
        "weights": "both mechanisms know the weights",
    },
    scope="all reals, {n} users; progressive filling on all two users with demands 0 to 3 on three servers",
    sizes={"n": USERS},
    mutants=("alone", "saturated", "weights"),
)
def _single_server(question: Question) -> Iterator[Step]:
    users = question.sizes["n"]
    alone = {"dominant": "g*d == c", "alone": "g*e <= k"} | {
        "level": "s*g == x",
        "level sign": "s >= 0",
        **signs("c k d g", "e"),
    }
    yield Step(
        "The virtual dominant share is the share of the dominant resource...",
        question.implies(alone, "x*d == s*c"),
    )
    yield Step(
        "...and no share of another resource is larger.",
        question.implies(alone, "x*e <= s*k", "alone * level sign"),
    )
    for k in range(users):
        yield Step(
            f"With a bottleneck ({k} of {users} users have larger shares), more for one takes from a share "
            f"that is no larger.",
            _stopped(question, users, k, "d", "c", "saturated"),
        )
    yield Step(
        "That is max-min fairness of the weighted dominant shares, which only one allocation has.",
        InWords("Max-min fair vectors in a convex set are unique."),
    )
    yield Step(
        "Progressive filling meets the conditions of PS-DSF for all small demands of two users, weights 1 "
        "and 2.",
        Enumeration("one_server_cases", {"largest": 3, "weighted": question.holds("weights")}),
        states=True,
    )

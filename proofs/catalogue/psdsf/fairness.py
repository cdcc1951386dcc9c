"""PS-DSF under both divisions: sharing incentive, envy-freeness and bottleneck fairness."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.psdsf.theorems import NEGATION, SOURCE
from proofs.catalogue.texts import each, signs, total
from proofs.claims import Implication, InWords, Step
from proofs.statement import Question, Size

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


def _filled(question: Question, n: int) -> Implication:
    """Users who fill a resource take all of the server's time."""
    users = range(1, n + 1)
    held = each("alone", "g@*d@ <= c", users) | {"saturated": f"{total('x@*d@', users)} == c"}
    fixed = {"capacity": "c > 0"} | signs(not_negative=" ".join(f"g{p} d{p}" for p in users))
    for p in users:
        fixed |= {f"part {p}": f"u{p} >= 0", f"tasks {p}": f"u{p}*g{p} == x{p}"}
    return question.implies(
        held,
        f"{total('u@', users)} >= 1",
        f"{NEGATION} * capacity",
        *(f"alone {p} * part {p}" for p in users),
        fixed=fixed,
    )


BOTTLENECK = {
    "bottleneck": "users that hold a bottleneck of another stand no higher (12); in time division, all that "
    "are served (13)"
}


@STATEMENTS.add(
    "psdsf-sharing-incentive",
    place="Theorem 3, sharing incentive",
    words="Under both divisions each user runs at least the tasks that its weight's part of every server "
    "would run.",
    latex=r"x_n\ge \frac{\varphi_n}{\sum_p\varphi_p}\sum_i\gamma_{ni}",
    hypotheses={
        **BOTTLENECK,
        "saturated": "a bottleneck is full; in time division, the server is busy",
        "alone": "the tasks of a user alone on a server fit (7)",
        "holder": "the inequality of the second step, for each holder",
        "server": "the inequality of the third step, for each server",
        "all tasks": "the fractions of a user's tasks on the servers add up to 1",
    },
    scope="all reals, {n} users that hold a bottleneck, {s} servers; no other assumption on demands, weights "
    "or eligibility",
    sizes={"n": Size(3, 1, 4, "users"), "s": Size(3, 1, 4, "servers")},
    mutants=("bottleneck", "saturated", "alone", "server"),
    remark="The paper sketches an induction over the users in a worst case where all share their "
    "bottlenecks; this direct proof needs neither.",
)
def _sharing_incentive(question: Question) -> Iterator[Step]:
    n, s = question.sizes["n"], question.sizes["s"]
    users, servers = range(1, n + 1), range(1, s + 1)
    holder = {"bottleneck": "X*f*G <= N*h*g"} | {
        "part": "u >= 0",
        "tasks here": "u*g == z",
        "fraction": "k*X == z",
        "runs": "X > 0",
        **signs("f h g", "G N"),
    }
    pair = each("holder", "u@*fG <= N*h@*k@", users) | {
        "value": "fG >= 0",
        **signs("N", " ".join(f"h{p} k{p}" for p in users)),
        "filled": f"{total('u@', users)} >= 1",
    }
    sums = (
        {f"server {i}": f"f*G{i} <= N*({total(f'h@*k@_{i}', users)})" for i in servers}
        | {f"all tasks {p}": f"{total(f'k{p}_@', servers)} == 1" for p in users}
    ) | signs(
        " ".join(["N f", *(f"h{p}" for p in users)]),
        " ".join([*(f"G{i}" for i in servers), *(f"k{p}_{i}" for p in users for i in servers)]),
    )
    yield Step(
        "The users that hold the bottleneck of user n on a server fill it, so their tasks would take all of "
        "the server's time.",
        _filled(question, n),
    )
    yield Step(
        "A holder at no higher level: its time u there, times weight f and tasks alone G of user n, is at "
        "most n's tasks N times the holder's weight h and the fraction k of its tasks that run there.",
        question.implies(holder, "u*f*G <= N*h*k", "bottleneck * part", f"{NEGATION} * runs"),
    )
    yield Step(
        "Summed over the holders, for each server.",
        question.implies(pair, f"fG <= N*({total('h@*k@', users)})", "value * filled"),
    )
    yield Step(
        "Summed over the servers: at least the weight's part of every server. Others only add to the "
        "right-hand side.",
        question.implies(sums, f"f*({total('G@', servers)}) <= N*({total('h@', users)})", degree=1),
    )


@STATEMENTS.add(
    "psdsf-sharing-incentive-two-users",
    place="equations (32)-(36)",
    words="For two users with common bottlenecks the chain of inequalities of the paper gives the sharing "
    "incentive.",
    latex=r"x_n\ge\frac{\varphi_n}{\varphi_n+\varphi_m}\sum_i\gamma_{ni}",
    hypotheses={
        "order": "servers are sorted by the ratio of what both run alone; the rival has those before the "
        "shared one",
        "level": "on the shared server the rival stands no higher (32)",
        "shared": "the parts of the dominant resource on the shared server add up to at least 1",
    },
    scope="all reals, {before} servers before the shared one, {after} behind it",
    sizes={
        "before": Size(2, 1, 4, "servers that the rival has"),
        "after": Size(2, 1, 4, "servers that the user has"),
    },
    mutants=("order", "level", "shared"),
    remark="psdsf-sharing-incentive does not need the common bottleneck or two users.",
)
def _two_users(question: Question) -> Iterator[Step]:
    before, after = range(1, question.sizes["before"] + 1), range(1, question.sizes["after"] + 1)
    rival = each("order", "g@*h <= g*h@", before)
    rival |= signs("g h", " ".join(["e", *(f"g{i} h{i}" for i in before)]))
    shared = {"level": "M*f*g <= N*k*h"}
    shared |= signs("k g N M", " ".join(["e", *(f"g{i}" for i in before)]))
    parts = signs("k", " ".join(["b e", *(f"g{i}" for i in before), *(f"a{i}" for i in after)]))
    own = " + ".join([*(f"a{i}" for i in after), "b*g"])
    first = total("g@", before)
    yield Step(
        "Link 1: the rival's tasks M, valued at the shared server, are at least what user n would run in its "
        "place.",
        question.implies(
            rival | {"rival": f"M == {' + '.join([*(f'h{i}' for i in before), 'e*h'])}"},
            f"M*g >= h*({first} + e*g)",
            degree=1,
        ),
    )
    yield Step(
        "Link 2 (32): the rival stands no higher on the shared server, so this is at most n's own tasks by "
        "weight.",
        question.implies(
            shared | {"link 1": f"M*g >= h*({first} + e*g)", "weight": "f > 0", "alone": "h > 0"},
            f"f*({first} + e*g) <= k*N",
            "link 1 * weight",
            f"{NEGATION} * alone",
        ),
    )
    yield Step(
        "Link 3 (33, 34, 36): added to n's own tasks, N is at least its weight's part of all servers.",
        question.implies(
            {"shared": "b + e >= 1"}
            | {
                "link 2": f"f*({first} + e*g) <= k*N",
                "own": f"N == {own}",
                "weight": "f > 0",
                "gamma": "g > 0",
            }
            | parts,
            f"f*({' + '.join([first, 'g', *(f'a{i}' for i in after)])}) <= (f + k)*N",
            "shared * weight * gamma",
        ),
    )


@STATEMENTS.add(
    "psdsf-envy-free",
    place="Theorem 3, envy-freeness, equations (25)-(29)",
    words="Under both divisions no user would run more tasks with the resources of another, adjusted by "
    "weight.",
    latex=r"U_n(a_p)/\varphi_p\le x_n/\varphi_n",
    hypotheses={
        **BOTTLENECK,
        "worth": "what the other's resources are worth is limited by n's dominant resource",
        "dominant": "alone on the server, user n would fill its dominant resource",
        "alone": "the tasks of the other user alone on the server fit (7)",
        "demanded": "user n demands the resource",
        "tasks": "no tasks are negative",
        "gamma": "the other user can run there",
        "server": "the inequality of the third step, for each server",
        "all tasks": "the tasks on the servers add up",
        "runs": "the other user runs something",
    },
    scope="each pair of users; all reals, {s} servers",
    sizes={"s": Size(4, 1, 6, "servers")},
    mutants=("bottleneck", "worth", "alone", "runs"),
)
def _envy_free(question: Question) -> Iterator[Step]:
    servers = range(1, question.sizes["s"] + 1)
    worth = {
        "worth": "t*d <= z*e",
        "dominant": "G*d == c",
        "alone": "g*e <= c",
        "demanded": "d > 0",
        "tasks": "z >= 0",
        "gamma": "g > 0",
    }
    sensible = signs("G c", "e t")
    higher = {"bottleneck": "X*f*G <= N*h*g"}
    level = {"worth": "t*g <= z*G", "gamma": "g > 0", "weight": "f > 0", "runs": "X > 0", "tasks": "z >= 0"}
    level |= signs("G h N", "t")
    sums = each("server", "t@*f*X <= z@*N*h", servers)
    sums |= {"all tasks": f"{total('z@', servers)} == X", "runs": "X > 0"}
    amounts = signs("f h N", " ".join(f"t{i} z{i}" for i in servers))
    yield Step(
        "Equation (26): with the resources of z tasks of user p, alone g, user n, alone G, runs at most zG/g "
        "tasks.",
        question.implies(
            worth | sensible, "t*g <= z*G", "worth * gamma", "alone * tasks", f"{NEGATION} * demanded"
        ),
    )
    yield Step(
        "Where they are worth anything, user p holds all that n demands, so also n's bottleneck there.",
        question.implies(
            {},
            "z*e > 0",
            "something * demanded",
            fixed={"worth": "t*d <= z*e", "something": "t > 0", "demanded": "d > 0"},
        ),
    )
    yield Step(
        "So p stands no higher there: what its tasks are worth to n, weighted, is at most the same fraction "
        "of n's own.",
        question.implies(
            higher,
            "t*f*X <= z*N*h",
            "worth * weight * runs",
            "bottleneck * tasks",
            f"{NEGATION} * gamma",
            fixed=level,
        ),
    )
    yield Step(
        "Summed over the servers, user n does not prefer the weighted bundle of user p.",
        question.implies(sums | amounts, f"f*({total('t@', servers)}) <= h*N", f"{NEGATION} * runs"),
    )


@STATEMENTS.add(
    "psdsf-bottleneck-fair",
    place="Theorem 3, single resource and bottleneck fairness, equations (23)-(24)",
    words="If all users dominantly request one resource from all eligible servers, its amounts are weighted "
    "max-min fair.",
    latex=r"\rho(n,i)=r\ \forall n,i\implies (x_nd_{nr}/\varphi_n)_n\ \text{constrained max-min fair}",
    hypotheses={
        "dominant": "alone on the server, each user would fill the common resource",
        "saturated": "a bottleneck is full; in time division, the server is busy",
        "alone": "the tasks of a user alone on a server fit (7)",
        "tasks": "in the part u of the time a user runs u gamma tasks",
    },
    scope="all reals, {n} users that hold a bottleneck or stand no higher than one of them, {s} servers",
    sizes={"n": Size(3, 1, 4, "users"), "s": Size(2, 1, 4, "servers")},
    mutants=("dominant", "saturated", "alone"),
    remark="One resource alone is the special case of single resource fairness.",
)
def _bottleneck_fair(question: Question) -> Iterator[Step]:
    n = question.sizes["n"]
    users, servers = range(1, n + 1), range(1, question.sizes["s"] + 1)
    level = {"dominant 1": "G*d == c", "dominant 2": "g*e == c"} | {
        "capacity": "c > 0",
        "demand 1": "d > 0",
        "demand 2": "e > 0",
        "level": "h*N*g >= f*X*G",
        **signs("G g f h", "N X"),
    }
    shared = each("dominant", "g@*d@ == c", users) | each("tasks", "u@*g@ == x@", users)
    full = {f"saturated {i}": f"{total(f'b@_{i}', users)} == c{i}" for i in servers}
    moved = {f"fits {i}": f"{total(f'y@_{i}', users)} <= c{i}" for i in servers} | {
        f"no loss {p}": f"{total(f'y{p}_@', servers)} >= {total(f'b{p}_@', servers)}" for p in users if p > 1
    }
    moved |= signs(not_negative=" ".join(f"b{p}_{i} y{p}_{i}" for p in users for i in servers))
    yield Step(
        "If all dominantly request one resource, levels on a server compare as weighted amounts of it.",
        question.implies(level, "h*N*d >= f*X*e", "level * demand 1 * demand 2", f"{NEGATION} * capacity"),
    )
    yield Step(
        "The users that fill a bottleneck, whichever it is, would take all of the server's time...",
        _filled(question, n),
    )
    yield Step(
        "...so they fill the common resource too: it is a bottleneck of everybody on every server.",
        question.implies(
            shared | {"filled": f"{total('u@', users)} >= 1", "capacity": "c > 0"},
            f"{total('x@*d@', users)} >= c",
            "filled * capacity",
            # Of degree 3, so that the equations may be multiplied by d and u.
            "filled * capacity * capacity",
        ),
    )
    yield Step(
        "So the users up to a level fill all servers that one of them may use.",
        InWords("Who is served stands no higher than any user that may run there (12)."),
    )
    yield Step(
        "None of them gets more of it unless another one of them gets less, even if all tasks move: that is "
        "max-min fairness.",
        question.implies(full | moved, f"{total('y1_@', servers)} <= {total('b1_@', servers)}", degree=1),
    )

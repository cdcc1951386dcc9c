r"""Why C-DRFH, TSF, DRFH and CDRF have the properties that they have of Table I, step by step.

User n runs :math:`x_n` tasks on all servers together and has the share :math:`x_n/(\varphi_nR_n)`. Its
yardstick :math:`R_n` are the tasks that it would run alone: in the pooled cluster (C-DRFH), or on all servers
one by one (TSF), in both as if there were no placement constraints. Without such constraints they are DRFH
and CDRF. A placement is max-min fair if nobody can run more, whatever is moved, unless somebody of the same
or a lower share runs less. The proofs start from what linear programming makes of that: for each user there
are prices of all resources of all servers at which the users of no higher share could just buy all that there
is, and a task of the user costs something.

All that they need of the yardstick is this: if the demands of one user are at least m times those of another
one, m times its yardstick is no larger than the other's. So the properties hold with any weights and
placement constraints, and for every max-min fair placement. Bottleneck fairness asks for more: the common
resource has to be dominant on all servers, those included that a user may not use.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.psdsf.theorems import NEGATION
from proofs.catalogue.texts import Lemma, signs, together
from proofs.claims import InWords, Step, SumSchema
from proofs.statement import Question

__all__ = ["bottleneck_steps", "envy_steps", "pareto_steps", "truth_steps"]

DUALITY = Step(
    "A max-min fair placement has such prices for each user.",
    InWords(
        "What the user runs is the most that fits while nobody of the same or a lower share runs less. The "
        "dual prices of this linear program, with 1 for a task of the user, meet the conditions."
    ),
)


SIGNS = {"worth": "q[r] >= 0", "tasks": "y[k] >= 0", "sign of d": "d[k,r] >= 0", "sign of d 1": "d1[r] >= 0"}
COST = "y1*sum[r](q[r]*d1[r]) + sum[k](y[k]*sum[r](q[r]*d[k,r]))"
"""What tasks of user 1 and of the others cost on a server, at the prices of its resources."""


def _server(question: Question) -> SumSchema:
    """What fits on a server costs no more than its resources."""
    held = {"fits": "y1*d1[r] + sum[k](y[k]*d[k,r]) <= c[r]"}
    fixed = SIGNS | {"sign of c": "c[r] >= 0", **signs("", "y1")}
    return question.for_every(held, f"{COST} <= sum[r](q[r]*c[r])", "fits * worth", fixed=fixed)


def _limit(question: Question, server: SumSchema, says: str, states: bool = False) -> Iterator[Step]:
    """Nobody runs more unless somebody of the same or a lower share runs less, by prices.

    User 1, who runs x1 tasks, stands beside the others k of no higher share; y are the tasks later. That the
    tasks on a server cost no more than its resources is a step before.
    """
    given = {
        "price": "w[k]*y[k,i] <= v[k,i]*y[k,i]",
        "price 1": "w1*y1[i] <= v1[i]*y1[i]",
        "supply": "sum[i](V[i]) <= w1*x1 + sum[k](w[k]*x[k])",
        "no loss": "sum[i](y[k,i]) >= x[k]",
    }
    fixed = {
        "server": "y1[i]*v1[i] + sum[k](y[k,i]*v[k,i]) <= V[i]",
        "cost": "w[k] >= 0",
        "cost 1": "w1 > 0",
        "tasks": "y[k,i] >= 0",
        "tasks 1": "y1[i] >= 0",
        "sign of v": "v[k,i] >= 0",
        "sign of v 1": "v1[i] >= 0",
        **signs("", "V[i] x[k]"),
        "sign of x 1": "x1 >= 0",
    }
    bought = question.for_every(
        given,
        "sum[i](y1[i]) <= x1",
        "server",
        "price",
        "price 1",
        "no loss * cost",
        f"{NEGATION} * cost 1",
        fixed=fixed,
    )
    yield Step(says, bought)
    here = {"c[r]": "c[i,r]", "q[r]": "q[i,r]", "y1": "y1[i]", "y[k]": "y[k,i]"}
    if "within" in server.hypotheses:
        here |= {"a[r]": "a[i,r]", "b": "b[i]"}
    costs = {
        "v1[i]": "sum[r](q[i,r]*d1[r])",
        "v[k,i]": "sum[r](q[i,r]*d[k,r])",
        "V[i]": "sum[r](q[i,r]*c[i,r])",
    }
    yield Step(
        "Together.",
        together(
            question,
            "sum[i](y1[i]) <= x1",
            Lemma(server, here, where=" (server)"),
            Lemma(bought, costs, ("server",)),
        ),
        states=states,
    )


def _bought(question: Question, states: bool = False) -> Iterator[Step]:
    server = _server(question)
    yield Step("The tasks on a server cost no more than its resources.", server)
    yield from _limit(
        question,
        server,
        "Those who are not above a user could just buy all that there is for what they run, at the prices of "
        "that user: if none of them runs less, it runs no more, whatever is moved.",
        states,
    )


def _larger_share(question: Question, pooled: bool) -> Iterator[Step]:
    """A bundle with which a user runs more than with its own makes a larger share than the user has.

    The bundle holds X tasks on the servers, of demands e, with the weight h, the yardstick R and the share L;
    the user runs t in them and x of its own, with demands d, the weight f, the yardstick S and the share l.
    """
    worth = question.for_every(
        {"covers": "t[i]*d <= X[i]*e", "least": "e == m*d"},
        "sum[i](t[i]) <= m*sum[i](X[i])",
        "covers",
        "least | X[i]",
        f"{NEGATION} * demanded",
        fixed={"demanded": "d > 0", "sign of t": "t[i] >= 0", "sign of X": "X[i] >= 0", **signs("", "e m")},
    )
    yield Step(
        "If each demand of the bundle's tasks is at least m times the user's, and one is m times it, the "
        "user runs at most m tasks for each one in the bundle.",
        worth,
    )
    alone = question.implies(
        {"cover": "m*d <= e", "alone": "g*e <= c", "dominant": "G*d == c"},
        "m*g <= G",
        "cover * sign of g",
        f"{NEGATION} * demanded",
        fixed={"demanded": "d > 0", **signs("", "c e g G m")},
    )
    yield Step(
        f"And m times the tasks of such demands alone {'in the pool' if pooled else 'on a server'} are no "
        "more than what the user runs there.",
        alone,
    )
    share = question.implies(
        {"share": "x == l*f*S", "share 2": "X == L*h*R", "more": "t*f > x*h"},
        "L > l",
        "yardsticks * sign of L * sign of h * sign of f",
        "worth * sign of f",
        "more",
        f"{NEGATION} * sign of h * sign of S * sign of f",
        fixed={"worth": "t <= m*X", "yardsticks": "m*R <= S", **signs("S f h", "l L m R t x X")},
    )
    if pooled:
        terms, cites = {"g": "R", "G": "S"}, []
    else:
        summed = question.for_every({}, "m*sum[i](g[i]) <= sum[i](G[i])", fixed={"each": "m*g[i] <= G[i]"})
        yield Step("Summed over the servers, this compares the yardsticks.", summed)
        terms, cites = {name: f"{name}[i]" for name in "cdegG"}, [Lemma(summed, proved=("each",))]
    yield Step("So if the user runs more, by weight, the bundle makes a larger share.", share)
    own, other = ("S", "R") if pooled else ("sum[i](G[i])", "sum[i](g[i])")
    last = {"t": "sum[i](t[i])", "X": "sum[i](X[i])", "R": other, "S": own}
    yield Step(
        "Together.",
        together(
            question,
            "L > l",
            Lemma(worth),
            Lemma(alone, terms, where=" (alone)"),
            *cites,
            Lemma(share, last, ("worth", "yardsticks"), " (share)"),
        ),
    )


def envy_steps(question: Question, pooled: bool) -> Iterator[Step]:
    """Envy-freeness; ``pooled`` says where the tasks of a yardstick are alone."""
    yield from _larger_share(question, pooled)
    yield Step(
        "So the bundle is not of those who are not above the user, who could run t tasks more in its place.",
        question.implies(
            {"fits": "x*d + X*e + z <= c", "covers": "t*d <= X*e"},
            "(x + t)*d + z <= c",
            fixed=signs("", "c d e t x X z"),
            degree=1,
        ),
    )
    yield from _bought(question)
    yield Step(
        "But it runs no more, as they all keep their tasks: the bundle is worth nothing to it, and not "
        "envied.",
        question.implies({"more": "t*f > x*h"}, "x + t > x", fixed=signs("f h", "t x")),
    )
    yield DUALITY


def pareto_steps(question: Question, pooled: bool) -> Iterator[Step]:
    """Pareto efficiency, whatever the yardstick."""
    yield from _bought(question, states=True)
    yield DUALITY


def truth_steps(question: Question, pooled: bool) -> Iterator[Step]:
    """Strategy-proofness: who loses by the lie, and stands lowest then, could have its tasks back."""
    yield from _larger_share(question, pooled)
    yield from _bought(question)
    order = {"first loser": "T <= B", "loses": "B < A", "no higher": "A <= H"}
    rises = {"lower": "T < H", "gained": "A < B", "first winner": "H <= A"}
    yield Step(
        "The bundle is that of the X tasks that a liar claims; its t true tasks fit beside the tasks of the "
        "others with the lie. Let H be the least share with the truth of those who gain, the liar among "
        "them, and T the least share with the lie of those who lose. Somebody loses whose share was at most "
        "H, so T < H.",
        question.implies(order, "T < H", fixed=signs("", "A B H T")),
    )
    yield Step(
        "So all who gain have shares above T with the lie, the liar by what it claims.",
        question.implies(rises, "B > T", fixed=signs("", "A B H T")),
    )
    yield Step(
        "With the lie, somebody of share T loses, and could have its tasks back.",
        InWords(
            "Of all who stand at T or below with the lie, the liar is none, and none gains. Their tasks with "
            "the truth fit, as the others may leave, and none of them would run less. So, by the prices with "
            "the lie, the one of share T who loses runs no less with the lie than with the truth: a "
            "contradiction, so the liar does not gain."
        ),
    )
    yield DUALITY


def bottleneck_steps(question: Question, pooled: bool) -> Iterator[Step]:
    """Bottleneck fairness, if one resource is dominant for all users on all servers."""
    positive = signs("b e", "a c d G")
    inside = question.implies(
        {"dominant": "G*e == b", "alone": "G*d <= c", "beside": "c == a*b"},
        "d <= a*e",
        "alone * sign of e",
        "dominant | a*e",
        "dominant | d",
        "beside | e",
        f"{NEGATION} * sign of b",
        fixed=positive,
    )
    yield Step(
        "Where a user would fill the common resource alone, a task demands, for each unit of it, no more of "
        "another resource than the server has for each unit of it.",
        inside,
    )
    if pooled:
        pool = question.for_every(
            {"dominant": "G[i]*e == b[i]", "alone": "G[i]*d <= c[i]"},
            "d*sum[i](b[i]) <= e*sum[i](c[i])",
            "dominant | d",
            "alone * sign of e",
            fixed=signs("", "e"),
        )
        yield Step("The common resource is dominant in the pool as well, where it stops a user.", pool)
    else:
        alone = question.for_every({"dominant": "G[i]*e == b[i]"}, "e*sum[i](G[i]) == sum[i](b[i])", degree=1)
        yield Step("Tasks alone on all servers together fill all there is of it.", alone)
    yield Step(
        "Hence a share u, times the weight, is the part that the user has of all of the common resource...",
        question.implies({}, "x*e == u*B", fixed={"share": "x == u*S", "filled": "S*e == B"}),
    )
    server = _server_of_one(question)
    yield Step(
        "If the common resource suffices on a server, the tasks cost no more than all its resources...",
        server,
    )
    yield from _limit(
        question,
        server,
        "...and nobody gets more of it unless somebody gets less who has no more by weight, even if only "
        "this resource were limited: that is max-min fairness.",
    )
    yield DUALITY


def _server_of_one(question: Question) -> SumSchema:
    """As _server, where only the common resource has to suffice; a: the others for each unit of it."""
    held = {"fits": "y1*e1 + sum[k](y[k]*e[k]) <= b", "beside": "a[r]*b <= c[r]"}
    fixed = SIGNS | {
        "within": "d[k,r] <= e[k]*a[r]",
        "within 1": "d1[r] <= e1*a[r]",
        "sign of a": "a[r] >= 0",
        "sign of c": "c[r] >= 0",
        **signs("e[k] b e1", "y1"),
    }
    return question.for_every(
        held,
        f"{COST} <= sum[r](q[r]*c[r])",
        "fits * worth * sign of a",
        "within * worth * tasks",
        "within 1 * worth * sign of y1",
        "beside * worth",
        fixed=fixed,
    )

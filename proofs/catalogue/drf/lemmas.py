"""Why asset fairness, equal incomes (CEEI) and DRF have the properties that they have, step by step.

Capacities are 1 and demands are positive. Each policy has a short description, which the proofs start from:
under DRF all dominant shares are equal, under asset fairness all sums of shares are, and in both some
resource is full; under CEEI everybody spends an income of 1 at prices that are positive only for resources
that are sold out. Sums over users i and resources j are sums over sets of any size; user 1, or resource 1,
stands beside the others where one is meant, and ``sum[i](1)`` is the number of users. The arguments are those
of A. Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types", NSDI 2011.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.proof_texts import argued
from proofs.claims import Step
from proofs.statement import Question

__all__ = [
    "asset_envy",
    "ceei_bottleneck",
    "ceei_envy",
    "ceei_pareto",
    "ceei_sharing",
    "ceei_single",
    "drf_bottleneck",
    "drf_envy",
    "drf_sharing",
    "filled_pareto",
    "filled_population",
    "filled_single",
    "truthful_steps",
]


@argued
def ceei_sharing(question: Question) -> None:
    """Sharing incentive: an equal part of everything is affordable.

    Proof
        [income] All income is spent on all resources, so prices add up to the number of users.
            income: sum[j](p[j]*h[i,j]) == 1; sold out: p[j]*(1 - sum[i](h[i,j])) == 0
            => sum[j](p[j]) == sum[i](1)
        [part] An equal part of every resource costs at most 1.
            part: sum[i](1)*y*a[j] <= 1; price: p[j] >= 0; incomes: sum[j](p[j]) == sum[i](1);
            users: sum[i](1) >= 1
            => y*sum[j](p[j]*a[j]) <= 1
            by part * price; not the conclusion * users
        [bought] Who spends an income of 1 could not afford more tasks.
            income: x*P == 1; x >= 0; cost: y*P <= 1
            => y <= x
            degree 2
        So nobody could run more with an equal part.
            income 1: x*sum[j](p[j]*a[j]) == 1; income: sum[j](p[j]*h[i,j]) == 1; sold out; price; part;
            users; x >= 0
            from income knowing all
            from part knowing all
            from bought knowing all with P = sum[j](p[j]*a[j])
            => y <= x (as stated)
    """


@argued
def drf_sharing(question: Question) -> None:
    """Sharing incentive: of the full resource somebody holds at least 1/n.

    Proof
        [enough] Of a full resource somebody holds at least 1/n.
            full: sum[i](h[i]) == 1; level: h[i] <= s; h[i] >= 0
            => sum[i](1)*s >= 1
        [part] With that dominant share one runs at least what 1/n of all runs.
            level: x*d == s; demand: d > 0; part: n*y*d <= 1; users: n >= 1; enough: n*s >= 1
            => y <= x
            degree 3
        So everybody does.
            full; level: h[i] <= s; level 1: x*d == s; demand; part: sum[i](1)*y*d <= 1;
            users: sum[i](1) >= 1;
            h[i] >= 0
            from enough knowing all
            from part knowing all with n = sum[i](1)
            => y <= x (as stated)
    """


# Of the liar and of the other users: what is known of them, and what the steps need of it.
LIES = {
    "drf": (
        "covers 1: u*d <= h; claim: h <= t; level 1: x1*d == s; demand 2: d > 0",
        "",
        "demand 3: D[i] > 0; level: x[i]*D[i] == s; level later: z[i]*D[i] == t",
        "",
    ),
    "asset": (
        "covers: u*a1 <= H; covers 1: u*d[j] <= h[j]; demand 1: a1 > 0; demand 2: d[j] > 0; "
        "claim: H + sum[j](h[j]) == t; level 1: x1*(a1 + sum[j](d[j])) == s",
        "",
        "demand 3: D[i] > 0; level: x[i]*D[i] == s; level later: z[i]*D[i] == t",
        "",
    ),
    "weighted": (
        "covers 1: u*d <= h; claim: w*h <= t; level 1: w*x1*d == s; demand 2: d > 0; weight 1: w > 0",
        "by covers 1 * weight 1; pays * demand 2 * weight 1",
        "demand 3: D[i] > 0; level: w[i]*x[i]*D[i] == s; level later: w[i]*z[i]*D[i] == t; weight: w[i] > 0",
        "by not the conclusion * demand 3 * weight",
    ),
}


def truthful_steps(question: Question, policy: str) -> Iterator[Step]:
    """Strategy-proofness under "drf" or "asset", or where the dominant share times a weight w is the same."""
    liar, pays, others, rises = LIES[policy]
    terms = "x = x[i]; z = z[i]; D = D[i]" + ("; w = w[i]" if policy == "weighted" else "")
    known = liar.replace("covers: u*a1 <= H; ", "").replace("demand 1: a1 > 0; ", "")
    return _lie(question, liar, pays, others.replace("[i]", ""), rises, f"{known}; {others}", terms)


@argued
def _lie(question: Question, liar: str, pays: str, other: str, rises: str, known: str, terms: str) -> None:
    """A lie that pays makes everybody hold more, also of the resource that is full.

    Proof
        Who claims nothing of a resource gets nothing of it, and runs no task.
            covers: u*a1 <= H; nothing: H == 0; nothing 1: a1 > 0; x1 >= 0
            => u <= x1 (as stated)
        [pays] If another lie pays, u > x, then the level of the liar and so of all rises.
            {liar}; pays: u > x1
            => t > s
            {pays}
        [rises] At a higher level every other user runs more.
            {other}; risen: t > s
            => z > x
            {rises}
        [full] Then the liar does not run more, as the resource that was full has no room for it.
            full: x1*a1 + sum[i](x[i]*a[i]) == 1; feasible: H + sum[i](z[i]*a[i]) <= 1; covers: u*a1 <= H;
            demand: a[i] > 0; demand 1: a1 > 0; grown: z[i] > x[i]
            => u <= x1
            by grown * demand
            degree 2
        So no lie pays.
            full; feasible; covers; demand: a[i] > 0; demand 1; {known}
            cases u > x1
            from pays knowing all
            from rises knowing all with {terms}
            from full knowing all
            => u <= x1 (as stated)
    """


@argued
def asset_envy(question: Question) -> None:
    """Envy-freeness: all bundles have the same sum of shares.

    Proof
        No bundle of the same sum runs more tasks.
            covers: y*d[j] <= h[j]; covers 1: y*d1 <= h1; demand: d[j] > 0; demand 1: d1 > 0;
            level other: h1 + sum[j](h[j]) == t; level own: x*(d1 + sum[j](d[j])) == t; h1 >= 0; h[j] >= 0;
            x >= 0
            => y <= x (as stated)
    """


@argued
def ceei_envy(question: Question) -> None:
    """Envy-freeness: everybody could have bought any other bundle.

    Proof
        [cost] Tasks that another's bundle runs cost at most 1.
            covers: y*a[j] <= h[j]; price: p[j] >= 0; income other: sum[j](p[j]*h[j]) == 1
            => y*sum[j](p[j]*a[j]) <= 1
        [bought] Who spends an income of 1 could not afford more tasks.
            income: x*P == 1; tasks: x > 0; cost: y*P <= 1
            => y <= x
            degree 2
        So nobody would run more with that bundle.
            covers; price; income other; income: x*sum[j](p[j]*a[j]) == 1; tasks
            from cost knowing all
            from bought knowing all with P = sum[j](p[j]*a[j])
            => y <= x (as stated)
    """


@argued
def drf_envy(question: Question) -> None:
    """Envy-freeness: all have the same dominant share.

    Proof
        Nobody holds more of my dominant resource than I do.
            covers: y*d <= h; level other: h <= s; level own: x*d == s; demand: d > 0; h >= 0; x >= 0
            => y <= x (as stated)
    """


@argued
def filled_pareto(question: Question) -> None:
    """Pareto efficiency: everybody uses the resource that is full.

    Proof
        Of the resource that is full nobody can hold more unless somebody holds less.
            full: x1*a1 + sum[i](x[i]*a[i]) == 1; feasible: z1*a1 + sum[i](z[i]*a[i]) <= 1; demand: a[i] > 0;
            demand 1: a1 > 0; no loss: z[i] >= x[i]; no loss 1: z1 >= x1; a[i] >= 0; a1 >= 0;
            x[i] >= 0; x1 >= 0; z1 >= 0
            => z1 == x1 (as stated)
            degree 3
    """


@argued
def ceei_pareto(question: Question) -> None:
    """Pareto efficiency: the first theorem of welfare economics.

    Proof
        # User 1, and the others.
        [cost] If nobody runs less, the tasks of a user cost no more than its income, or all that fits would
        cost more than all incomes.
            price: p[j] >= 0; sold out: p[j]*(1 - x1*a1[j] - sum[i](x[i]*a[i,j])) == 0;
            income 1: x1*sum[j](p[j]*a1[j]) == 1; no loss: z[i] >= x[i]; a[i,j] >= 0;
            feasible: z1*a1[j] + sum[i](z[i]*a[i,j]) <= 1
            => z1*sum[j](p[j]*a1[j]) <= 1
            by price * feasible; sold out; no loss * price * sign of a
        [bought] Who spends an income of 1 could not afford more tasks.
            income: x*P == 1; tasks: x > 0; cost: z*P <= 1; no loss: z >= x
            => z == x
            degree 3
        So nobody runs more unless somebody runs less.
            income 1; price; sold out; no loss: z[i] >= x[i]; no loss 1: z1 >= x1; feasible; tasks: x1 > 0;
            a[i,j] >= 0
            from cost knowing all
            from bought knowing all with P = sum[j](p[j]*a1[j]); x = x1; z = z1
            => z1 == x1 (as stated)
    """


@argued
def filled_single(question: Question) -> None:
    """A single resource: equal levels are equal shares.

    Proof
        Equal shares that fill it are 1/n.
            level: h[i] == s; level 1: h1 == s; full: h1 + sum[i](h[i]) == 1
            => (1 + sum[i](1))*h1 == 1 (as stated)
    """


@argued
def ceei_single(question: Question) -> None:
    """A single resource: equal incomes are equal shares.

    Proof
        [incomes] All incomes are the price of all of it.
            income: p*h[i] == 1; income 1: p*h1 == 1; sold out: p*(1 - h1 - sum[i](h[i])) == 0
            => p == 1 + sum[i](1)
        [equal] Equal incomes buy equal shares.
            income 1; incomes: p == n
            => n*h1 == 1
        So all have the same share.
            income; income 1; sold out
            from incomes knowing all
            from equal knowing all with n = 1 + sum[i](1)
            => (1 + sum[i](1))*h1 == 1 (as stated)
    """


@argued
def ceei_bottleneck(question: Question) -> None:
    """A resource that is dominant for all: nobody pays more than for all resources in its place.

    Proof
        # b: shares of the common resource, r its price; a: shares of the others.
        [incomes] All income is spent on all resources.
            income: x*(r*b + sum[j](p[j]*a[j])) == 1; income 1: x[i]*(r*b[i] + sum[j](p[j]*a[i,j])) == 1;
            sold out: r*(1 - x*b - sum[i](x[i]*b[i])) == 0;
            sold out 1: p[j]*(1 - x*a[j] - sum[i](x[i]*a[i,j])) == 0
            => r + sum[j](p[j]) == 1 + sum[i](1)
        [number] That is a number of users, and not negative.
            price: r >= 0; price 1: p[j] >= 0; incomes: r + sum[j](p[j]) == n
            => n >= 0
        [cost] A task costs at most as if it needed its share of the common resource of all resources.
            dominant: a[j] <= b; price 1; incomes: r + sum[j](p[j]) == n
            => r*b + sum[j](p[j]*a[j]) <= n*b
            by dominant * price 1; incomes | b
        [enough] So an income of 1 buys at least 1/n of the common resource.
            income: x*P == 1; tasks: x > 0; cost: P <= n*b
            => n*x*b >= 1
        [most] If all others have at least 1/n, a user has at most 1/n.
            feasible: h + sum[i](h[i]) <= 1; enough: (1 + sum[i](1))*h[i] >= 1; number: 1 + sum[i](1) >= 0
            => (1 + sum[i](1))*h <= 1
            by feasible * number; enough
        [just] So all have just that.
            least: y >= 1; most: y <= 1
            => y == 1
        Everybody does.
            income: x*(r*b + sum[j](p[j]*a[j])) == 1; income 1: x[i]*(r*b[i] + sum[j](p[j]*a[i,j])) == 1;
            sold out; sold out 1; price; price 1; dominant; dominant 1: a[i,j] <= b[i]; tasks;
            tasks 1: x[i] > 0; feasible: x*b + sum[i](x[i]*b[i]) <= 1
            from incomes knowing all
            from number knowing all with n = 1 + sum[i](1)
            from cost knowing all with n = 1 + sum[i](1)
            from cost knowing all with a[j] = a[i,j]; b = b[i]; n = 1 + sum[i](1)
            from enough knowing all with x = x[i]; b = b[i]; P = r*b[i] + sum[j](p[j]*a[i,j]);
            n = 1 + sum[i](1)
            from enough knowing all with P = r*b + sum[j](p[j]*a[j]); n = 1 + sum[i](1)
            from most knowing all with h = x*b; h[i] = x[i]*b[i]
            from just knowing all with y = (1 + sum[i](1))*x*b
            => (1 + sum[i](1))*x*b == 1 (as stated)
    """


@argued
def drf_bottleneck(question: Question) -> None:
    """A resource that is dominant for all: dominant shares are its shares, and they fill it.

    Proof
        Shares s of the common resource fit, and some full resource shows that s is at least 1/n.
            full: sum[i](h[i]) == 1; dominant: h[i] <= s; feasible: sum[i](1)*s <= 1
            => sum[i](1)*s == 1 (as stated)
    """


@argued
def filled_population(question: Question) -> None:
    """A user leaves: the level, which all share, cannot fall.

    Proof
        # a: demands for the resource that is full afterwards; D: what a task adds to the level.
        [falls] At a lower level a user would run less,
            level: x*D == s; level later: z*D == t; demand: D > 0; lower: t < s
            => z < x
            degree 2
        [no room] and all who stay would fill the resource no more.
            full: z1*a1 + sum[i](z[i]*a[i]) == 1; fits: x*a + x1*a1 + sum[i](x[i]*a[i]) <= 1; demand: a > 0;
            demand 1: a1 > 0; demand 2: a[i] > 0; less: z[i] < x[i]; x >= 0
            => z1 >= x1
            by less * demand 2; demand * sign of x; demand 1 * not the conclusion
        [rises] At a level that is no lower nobody runs less.
            level: x*D == s; level later: z*D == t; demand: D > 0; no lower: t >= s
            => z >= x
            degree 2
        So nobody who stays loses.
            full; fits; level: x[i]*D[i] == s; level 1: x1*D1 == s; level later: z[i]*D[i] == t;
            level later 1: z1*D1 == t; demand: a > 0; demand 1; demand 2; demand 3: D[i] > 0;
            demand 4: D1 > 0;
            x >= 0
            cases t < s
            from falls knowing all with x = x[i]; z = z[i]; D = D[i]
            from no room knowing all
            from rises knowing all with x = x1; z = z1; D = D1
            => z1 >= x1 (as stated)
    """

"""What statements assume, met by allocations that definitions compute in fractions, or by a run by hand."""

import random
import re
from fractions import Fraction as F

import pytest

from proofs.catalogue import statement_named
from proofs.claims import Chained, Implication, SumSchema
from proofs.definitions import definition
from proofs.definitions.queues.drifts import two_resource_bmf
from proofs.language.relations import relation

PF = (
    ([[F(1), F(1)], [F(2), F(1)], [F(1), F(2)]], [F(1, 3), F(2, 9), F(2, 9)]),
    ([[F(1), F(3)], [F(1), F(3)], [F(2), F(6)]], [F(1, 9), F(1, 9), F(1, 18)]),
    ([[F(3), F(1)], [F(1), F(3)], [F(4), F(4)]], [F(1, 6), F(1, 6), F(1, 12)]),
)
"""Demands for two resources and proportionally fair tasks of three users, whose prices are fractions."""


def stated(name):
    """The claims that state a statement, in the order of its proof."""
    statement = statement_named(name)
    steps = statement.written(statement.question())
    return [s.claim for s in steps if s.states and isinstance(s.claim, Chained | Implication | SumSchema)]


def members(name, rows, *letters):
    """Values of a family at plain variables: x_i1, a_i1_j2."""
    if not letters:
        return {name: rows}
    return {
        key: value
        for k, row in enumerate(rows, 1)
        for key, value in members(f"{name}_{letters[0]}{k}", row, *letters[1:]).items()
    }


def unmet(claim, values):
    """Names of the hypotheses that values do not meet."""
    return [name for name, text in claim.hypotheses.items() if not relation(text).holds(values)]


def usage(shares, tasks):
    return [sum(row[j] * x for row, x in zip(shares, tasks, strict=True)) for j in (0, 1)]


def fullest(used):
    """Weights of the fullest resource, 1 and 0."""
    return [F(used[0] >= used[1]), F(used[0] < used[1])]


def drawn(rng, shares):
    """Some allocation that fits."""
    tasks = [F(rng.randint(0, 9), 9) for _ in shares]
    largest = max(*usage(shares, tasks), 1)
    return [x / largest for x in tasks]


def efficiency_values(shares, tasks, other):
    w = fullest(usage(shares, other))
    return {
        **{"x": tasks[0], "g": 1 / tasks[0], "y": other[0]},
        **members("x", tasks[1:], "i"),
        **members("g", [1 / x for x in tasks[1:]], "i"),
        **members("y", other[1:], "i"),
        **members("a", shares[0], "j"),
        **members("a", shares[1:], "i", "j"),
        **members("w", w, "j"),
    }


@pytest.mark.parametrize(("shares", "tasks"), PF)
def test_proportional_fairness_is_as_kelly_defines_it(shares, tasks):
    rng, claim = random.Random(1), stated("br-pf-efficient")[0].instance(2)
    wrong = [tasks[0] * F(9, 10), *tasks[1:]]
    refuted = 0
    for _ in range(60):
        other = drawn(rng, shares)
        assert set(unmet(claim, efficiency_values(shares, tasks, other))) <= {"no loss[1]", "no loss[2]"}
        refuted += "optimal" in unmet(claim, efficiency_values(shares, wrong, other))
    assert "optimal" in unmet(claim, efficiency_values(shares, wrong, tasks))
    assert refuted < 60


@pytest.mark.parametrize(("shares", "tasks"), PF)
def test_no_other_allocation_meets_it_for_all_others(shares, tasks):
    rng, claim = random.Random(2), stated("br-pf-efficient")[0].instance(2)
    for _ in range(20):
        other = [max(x, F(1, 99)) for x in drawn(rng, shares)]
        scale = max(usage(shares, other))
        other = [x / scale for x in other]
        assert "optimal" in unmet(claim, efficiency_values(shares, other, tasks))


@pytest.mark.parametrize(("shares", "tasks"), PF)
@pytest.mark.parametrize("e", [F(1), F(1, 4)])
def test_users_alone_and_bundles(shares, tasks, e):
    n = 3
    # Alone: the weights are those of the dominant resource.
    alone = stated("br-pf-sharing-incentive")[0].instance(n)
    given = [*shares, [0, 0]]
    values = {
        **members("x", tasks, "i"),
        **members("g", [1 / x for x in tasks], "i"),
        **members("s", [max(a * x for a in row) for row, x in zip(shares, tasks, strict=True)], "i"),
        **members("a", [[*row, F(0)] for row in given[:n]], "i", "j"),
        **members("w", [[*fullest([a * x for a in row]), F(0)] for row, x in zip(shares, tasks, strict=True)],
                  "i", "j"),
    }  # fmt: skip
    assert not unmet(alone, values)
    # User 1 gets the bundle of user 2; the others are the third user, and one without demands.
    claim = stated("br-pf-envy-free")[0].instance(2)
    y = min(tasks[1] * b / a for a, b in zip(shares[0], shares[1], strict=True))
    used = [
        x + y * a - tasks[1] * b for x, a, b in zip(usage(shares, tasks), shares[0], shares[1], strict=True)
    ]
    values = {
        **{"x": tasks[0], "z": tasks[1], "y": y, "g": 1 / tasks[0]},
        **members("x", [tasks[2], e], "i"),
        **members("g", [1 / tasks[2], 1 / e], "i"),
        **members("a", shares[0], "j"),
        **members("b", shares[1], "j"),
        **members("a", [shares[2], [F(0), F(0)]], "i", "j"),
        **members("w", fullest(used), "j"),
    }
    # A user without demands runs any tasks: relative to them nothing changes.
    assert not unmet(claim, values)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_bmf_allocations_meet_what_full_resources_assume(n):
    rng, claims = random.Random(n), stated("br-bmf-full-resources")
    seen = set()
    for _ in range(30):
        shares = [[F(rng.randint(1, 8), 4), F(rng.randint(1, 8), 4)] for _ in range(n)]
        tasks = two_resource_bmf(shares, [F(1)] * n)
        ratios = [a / b for a, b in shares]
        held = [[row[j] * x for row, x in zip(shares, tasks, strict=True)] for j in (0, 1)]
        values = {
            "s": max(held[0]),
            "t": max(held[1]),
            **members("r", ratios, "i"),
            **members("v", held[1], "i"),
        }
        to_full, to_condition = (claim.instance(n) for claim in claims)
        full, condition = sum(held[0]) == 1, sum(ratios) >= n
        assert full == condition
        seen.add(full)
        assert set(unmet(to_full, values)) == (set() if condition else {"condition"})
        assert set(unmet(to_condition, values)) == (set() if full else {"full"})
    assert seen == {True, False}


def test_bmf_of_two_classes_meets_what_is_assumed_of_it_and_of_pf():
    rng, claim = random.Random(3), stated("br-two-classes")[0]
    for _ in range(60):
        shares = [[F(rng.randint(1, 6)), F(rng.randint(1, 6))] for _ in range(2)]
        counts = [F(rng.randint(1, 4)) for _ in range(2)]
        u, w = (f / n for f, n in zip(two_resource_bmf(shares, counts), counts, strict=True))
        (a, b), (c, d) = shares
        used = usage(shares, [counts[0] * u, counts[1] * w])
        values = {
            **dict(zip("abcd", (a, b, c, d), strict=True)),
            **{"X": counts[0], "Y": counts[1], "u": u, "w": w, "x": u, "y": w},
            **{"s": max(u * a, w * c), "t": max(u * b, w * d)},
            **dict(zip("pq", fullest(used), strict=True)),
        }
        # The library's PF is the same; so is the one of the definition.
        assert not unmet(Implication(claim.hypotheses, claim.conclusion), values)
        values["x"] *= F(9, 10)
        assert "optimal" in unmet(Implication(claim.hypotheses, claim.conclusion), values)


def test_one_class_of_half_the_load_meets_what_stability_assumes_in_the_empty_state_too():
    claim = stated("br-balanced-stable")[0].instance(3)
    # States of 0, 1 and 2 jobs of the first of three classes; the others demand nothing.
    first, empty, one = [F(0), F(1), F(1)], [F(1), F(0), F(0)], [F(1), F(0), F(0)]
    nothing = [F(0)] * 3
    values = {
        **{"r": F(1, 2), "B": F(1), "b": F(2)},
        **members("z", [F(1), F(1, 2), F(1, 4)], "s"),
        **members("e", empty, "s"),
        **members("P", [F(1)] * 3, "s"),
        **members("S", [F(1)] * 3, "s"),
        **members("T", empty, "s"),
        **members("R", empty, "s"),
        **members("a", [[F(1)] * 3, nothing, nothing], "i", "s"),
        **members("Q", [first, nothing, nothing], "i", "s"),
        **members("U", [first, nothing, nothing], "i", "s"),
        **members("c", one, "i"),
    }
    assert not unmet(claim, values)
    assert "rest[1]" in unmet(claim, values | {"T_s1": F(0)})


def at(number, text):
    """What a text says of one number, with a variable for each member: u[r,n+1] is u_2[r] at 1."""
    for member, n in (("n\\+1", number + 1), ("n", number), ("1", 1), ("N", 2)):
        text = re.sub(rf"(\w+)\[(\w),{member}\]", rf"\1_{n}[\2]", text)
        text = re.sub(rf"(\w+)\[{member}\]", rf"\1_{n}", text)
    return text


def of_two_rounds(claim):
    """A claim about runs, said of those of two rounds: what looks ahead is asked after the first one only."""
    held = {}
    for name, text in claim.hypotheses.items():
        numbers = (1,) if "n+1" in text else (1, 2)
        held |= {at(n, text): f"{name} of {n}" for n in numbers}
    return SumSchema({name: text for text, name in held.items()}, at(2, claim.conclusion)).instance(3)


def test_a_run_of_two_rounds_meets_what_the_bound_of_rounds_assumes():
    # Tenants who demand (1, 0), (1/2, 1) and (0, 1): resource 2 ends the first round at the level 3/2, and
    # resource 1 the second one at 9/4. Then nobody is left, and all rates are 0.
    claim = of_two_rounds(stated("dcdrf-rounds")[0])
    values = {
        **{"e": F(1, 5), "p": F(1, 3), "P_1": F(1), "P_2": F(4, 5)},
        **{"y_1": F(3, 2), "y_2": F(9, 4), "x_1": F(3, 4), "x_2": F(0)},
        **members("g", [F(0), F(1, 3), F(1, 3)], "i"),
        **members("m_1", [F(1, 3), F(0), F(0)], "r"),
        **members("m_2", [F(0)] * 3, "r"),
        **members("u_1", [F(3, 4), F(1), F(0)], "r"),
        **members("u_2", [F(1), F(1), F(0)], "r"),
        **members("D_1", [F(0), F(1), F(0)], "r"),
        **members("D_2", [F(1), F(0), F(0)], "r"),
    }
    assert not unmet(claim, values)
    assert relation(claim.conclusion).holds(values)
    # With a quarter for epsilon the second round would not be.
    assert unmet(claim, values | {"e": F(1, 4), "P_2": F(3, 4)}) == ["demanded of 1"]


def filled(demands):
    """Tasks, dominant demands and a bottleneck of everybody under progressive filling."""
    tasks = definition("drf_tasks")(demands, [1, 1])
    dominant = [max(row) for row in demands]
    levels = [x * c for x, c in zip(tasks, dominant, strict=True)]
    used = usage(demands, tasks)
    bottlenecks = [
        next(
            j
            for j in (0, 1)
            if row[j]
            and used[j] == 1
            and all(v <= t for other, v in zip(demands, levels, strict=True) if other[j])
        )
        for row, t in zip(demands, levels, strict=True)
    ]
    return tasks, dominant, levels, bottlenecks


def family(others, **given):
    """Values of families for these users."""
    rows = [members(name, [row[k] for k in others], "i") for name, row in given.items()]
    return {key: value for row in rows for key, value in row.items()}


@pytest.mark.parametrize("n", [2, 3, 4])
def test_lies_under_filling_meet_what_truthfulness_assumes(n):
    rng = random.Random(n)
    no_loser, nobody_more, more = stated("br-drf-strategy-proof")
    seen = set()
    for _ in range(300):
        true = [[F(rng.randint(0, 3)), F(rng.randint(0, 3))] for _ in range(n)]
        lie = [F(rng.randint(0, 3)), F(rng.randint(0, 3))]
        if not all(map(any, [*true, lie])):
            continue
        stated_demands = [lie, *true[1:]]
        z, c, d, bottleneck = filled(true)
        t, _, e, later = filled(stated_demands)
        got = [t[0] * a for a in lie]
        y = min(g / a for g, a in zip(got, true[0], strict=True) if a)
        first = true[0].index(max(true[0]))
        j = bottleneck[0]
        everybody = range(1, n)
        losers = [k for k in everybody if e[k] < d[k]]

        base = {"x": z[0], "y": y}
        column = [*zip(*true, strict=True)]
        if not losers:
            values = {
                **base,
                **{"a": true[0][j], "g": got[j]},
                **family(everybody, z=z, t=t, c=c, D=d, E=e, a=column[j]),
            }
            claim = no_loser.instance(n - 1)
            seen.add("no loser")
        else:
            k = min(losers, key=lambda k: e[k])
            b = later[k]
            rising = [p for p in everybody if p != k and true[p][b] and e[p] > d[p]]
            loss = [max(x - y, F(0)) for x, y in zip(d, e, strict=True)]
            base |= {"zk": z[k], "tk": t[k], "ck": c[k], "Dk": d[k], "Ek": e[k]}
            if not rising:
                others = [i for i in everybody if i != k]
                values = {
                    **base,
                    **{"e": true[0][first], "ge": got[first], "E1": e[0], "D1": d[0]},
                    **{"a": true[0][j], "g": got[j], "ak": true[k][j]},
                    **{"b": true[0][b], "gb": got[b], "b0": true[k][b]},
                    **family(others, z=z, t=t, c=c, D=d, E=e, a=column[j], b=column[b], l=loss),
                }
                claim = nobody_more.instance(len(others)) if others else None
                seen.add("nobody more")
            else:
                p = rising[0]
                q = bottleneck[p]
                others = [i for i in everybody if i not in (k, p)]
                values = {
                    **base,
                    **{"zp": z[p], "tp": t[p], "cp": c[p], "Dp": d[p], "Ep": e[p], "bp": true[p][b]},
                    **{"d1": true[0][q], "gd": got[q], "dk": true[k][q], "d0": true[p][q]},
                    **family(others, z=z, t=t, c=c, D=d, E=e, d=column[q], l=loss),
                }
                claim = more.instance(len(others)) if others else None
                seen.add("more")
        if claim is not None:
            told = {name: values[name] for name in claim.variables}
            assert not unmet(claim, told), (true, lie)
            assert y <= z[0]
    assert seen >= {"no loser", "nobody more"}

"""Bonald and Roberts on their example of two classes: drifts of PF and DRF, and which loads fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.bonald_roberts import stability
from proofs.catalogue.bonald_roberts.durations import FOUR
from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.bonald_roberts.queues import EXAMPLE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import computed, model
from proofs.catalogue.proof_texts import argued
from proofs.claims import Claim, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known=stability.STATEMENTS.known)


@STATEMENTS.add("br-drift-values", said=Said.READER)
def _drift_values(question: Question) -> Iterator[Step]:
    r"""Drifts of PF and DRF in the example at load 9/10.

    .. math:: \dot x = \rho - \varphi(x), \quad a = \begin{pmatrix}1&.1\\.1&1\end{pmatrix}

    Hypotheses
        load*: the busiest resource has load 9/10
    Place: slides "Drift for balanced load" and "Drift for unbalanced load"; the numbers are not in the text
    Scope: the example, equal loads and loads 3 to 1, at seven counts
    """
    even, uneven = (
        (["9/11", "9/11"], ["27/31", "9/31"]) if question.holds("load") else (["1", "1"], ["1", "1/3"])
    )
    cases = (
        ("PF", even, [10, 1], ["-1/11", "-1/11"]),
        ("DRF", even, [10, 1], ["-191/1111", "799/1111"]),
        ("PF", even, [30, 10], ["-1/11", "-1/11"]),
        ("DRF", even, [30, 10], ["-51/341", "169/341"]),
        ("PF", uneven, [30, 10], ["-13/341", "-211/341"]),
        ("DRF", uneven, [30, 10], ["-3/31", "-1/31"]),
        ("DRF", uneven, [1, 10], ["2417/3131", "-2191/3131"]),
    )
    for policy, loads, x, value in cases:
        yield Step(
            f"{policy}, loads {loads[0]} and {loads[1]}, {x[0]} and {x[1]} jobs.",
            computed("fluid_drift", policy=policy, shares=EXAMPLE, loads=loads, counts=x, gives=value),
        )


@argued
def _pf_inside(question: Question) -> None:
    """PF where no class has more than ten times the jobs of the other.

    Proof
        PF inside the cone x1/10 <= x2 <= 10 x1 runs 10/11 tasks of each class, which fill both resources:
        relative to them no other allocation that fits adds up to more than the number of jobs.
            low: x1 <= 10*x2; high: x2 <= 10*x1; fits 1: z1 + z2/10 <= 1; fits 2: z1/10 + z2 <= 1
            => 11/10*(x1*z1 + x2*z2) <= x1 + x2 (as stated)
            by high * fits 1; low * fits 2
    """


@argued
def _pf_beyond(question: Question, a: str, b: str) -> None:
    """PF where class {a} has more than ten times the jobs of class {b}.

    Proof
        # f: tasks of a class, g: one over them; z: those of another allocation.
        [one over {a}] If class {a} has more than ten times the jobs of class {b}, tasks that are in the ratio
        of x{a} and 10 x{b} and fill its resource have these inverses,
            one: f{a}*(x1 + x2) == x{a}; inverse 1: f{a}*g{a} == 1
            => x{a}*g{a} == x1 + x2
        [one over {b}] and class {b} this one.
            ten: f{b}*(x1 + x2) == 10*x{b}; inverse 2: f{b}*g{b} == 1
            => 10*x{b}*g{b} == x1 + x2
        [price {a}] At the price x1 + x2 of its resource what fits costs no more.
            price: x{a}*g{a} == x1 + x2; price 1: 10*x{b}*g{b} == x1 + x2; fits {a}: z{a} + z{b}/10 <= 1;
            ahead: x1 > 0; jobs: x2 > 0
            => x{a}*z{a}*g{a} + x{b}*z{b}*g{b} <= x1 + x2
            by fits {a} * ahead; fits {a} * jobs; price | z{a}; price 1 | z{b}
        So these tasks are PF: no other allocation that fits adds up to more than the number of jobs.
            one; ten; inverse 1; inverse 2; fits {a}; ahead; jobs
            from one over {a} knowing all
            from one over {b} knowing all
            from price {a} knowing all
            => x{a}*z{a}*g{a} + x{b}*z{b}*g{b} <= x1 + x2 (as stated)
        They have resource {a} full,
            one; ten; ahead; jobs
            => f{a} + f{b}/10 >= 1 (as stated)
        which does not overflow,
            one; ten; ahead; jobs
            => f{a} + f{b}/10 <= 1 (as stated)
        nor does the other one.
            beyond: x{a} > 10*x{b}; one; ten; ahead; jobs
            => f{a}/10 + f{b} <= 1 (as stated)
    """


@argued
def _drf(question: Question, a: str, b: str) -> None:
    """DRF where class {a} has no fewer jobs.

    Proof
        DRF where class {a} has no fewer jobs: the classes have the same dominant share, one no larger,
            first: f{a}*(x{a} + x{b}/10) == x{a}; second: f{b}*(x{a} + x{b}/10) == x{b}; ahead: x1 > 0;
            jobs: x2 > 0
            => f{a}*x{b} <= f{b}*x{a} (as stated)
            by not the conclusion * ahead; not the conclusion * jobs; first | x{b}; second | x{a}
        the other no larger either,
            first; second; ahead; jobs
            => f{a}*x{b} >= f{b}*x{a} (as stated)
            by not the conclusion * ahead; not the conclusion * jobs; first | x{b}; second | x{a}
        and resource {a} is full, of which both demand some: it does not overflow,
            first; second; ahead; jobs
            => f{a} + f{b}/10 <= 1 (as stated)
        and has no room.
            first; second; ahead; jobs
            => f{a} + f{b}/10 >= 1 (as stated)
        The other one does not overflow.
            first; second; ahead; jobs; off: x{a} >= x{b}
            => f{a}/10 + f{b} <= 1 (as stated)
    """


@STATEMENTS.add("br-drift-cone", said=Said.READER)
def _cone(question: Question) -> Iterator[Iterable[Step]]:
    r"""With balanced load PF drains both classes unless one has more than ten times the jobs of the other,
    while DRF near load 1 lets the class with fewer jobs grow.

    .. math:: \tfrac1{10}\le\tfrac{x_1}{x_2}\le10: \varphi^{PF} = (\tfrac{10}{11},\tfrac{10}{11}); \quad
        \varphi^{DRF} = \frac{x}{\max(x_1+.1x_2,\,.1x_1+x_2)}

    Hypotheses
        load*
        low*: class 1 has at most ten times the jobs of class 2
        high*: class 2 has at most ten times the jobs of class 1
        fits*: another allocation fits
        inverse: g is one over the tasks of PF
        beyond*: class 1 has more than ten times the jobs of class 2
        jobs: there are jobs of class 2
        ahead: there are jobs of class 1
        one: tasks of class 1 beyond the cone
        ten: tasks of class 2 beyond the cone
        first: tasks of class 1 under DRF
        second: tasks of class 2 under DRF
        off*: class 1 has more jobs
        critical*: the load of the resources is at least 1
        steep*: the ratio of the jobs is beyond 11/(10 r) - 1/10
        part: the resources have load r
    Place: slide "Drift for balanced load"; read off, not said
    Scope: the example with equal loads, all counts; where class 2 has more jobs the classes change roles

    Proof
        ...
        So for equal loads below 10/11, with which both resources have a load below 1, both classes drain.
            load: 11/10*rho < 1
            => rho - 10/11 < 0 (as stated)
        ...
        ...
        So below the diagonal class 2 grows at load 1,
            second: f2*(x1 + x2/10) == x2; ahead: x1 > 0; jobs: x2 > 0; off: x1 > x2; critical: rho >= 10/11
            => rho - f2 > 0 (as stated)
        and at load r as soon as x1/x2 > 11/(10 r) - 1/10.
            second; jobs; steep: 10*r*x1 > (11 - r)*x2; part: 11*rho == 10*r; ahead
            => rho - f2 > 0 (as stated)
        Class 1 drains there, for any load below 1.
            first: f1*(x1 + x2/10) == x1; ahead; jobs; off; load
            => rho - f1 < 0 (as stated)
    """
    yield _pf_inside(question)
    yield _pf_beyond(question, "1", "2")
    yield _drf(question, "1", "2")


@STATEMENTS.add("br-drift-unbalanced", said=Said.READER)
def _unbalanced(question: Question) -> Iterator[Iterable[Step]]:
    r"""With loads 3 to 1 and below 1, in every state with jobs of both classes PF and DRF drain one of them;
    near load 1 class 2 grows under DRF beyond 3 jobs of class 1 for one of its own, under PF beyond 30.

    .. math:: \rho = \tfrac{r}{31}(30, 10):\quad \varphi^{PF}_2 < \rho_2 \Rightarrow x_1 > 30 x_2/r - x_2,
        \quad \varphi^{DRF}_2 < \rho_2 \iff x_1/x_2 > \tfrac{31}{10r} - \tfrac1{10}\ (x_1 > x_2)

    Hypotheses
        load*
        loads*: class 1 has three times the load of class 2, and resource 1 has load r
        low*: class 1 has at most ten times the jobs of class 2
        high*: class 2 has at most ten times the jobs of class 1
        fits*: another allocation fits
        inverse: g is one over the tasks of PF
        beyond*: one class has more than ten times the jobs of the other
        much*: class 1 has at least the jobs for one of class 2 at which it is served in proportion
        few*: class 1 has at most the jobs for one of class 2 at which it is served in proportion
        jobs: there are jobs of class 2
        ahead: there are jobs of class 1
        one*: tasks of the class with more jobs under PF beyond the cone
        ten*: tasks of the class with fewer jobs under PF beyond the cone
        first*: tasks of the class with more jobs under DRF
        second*: tasks of the class with fewer jobs under DRF
        off*: one class has more jobs than the other
        steep*: the ratio of the jobs is beyond 31/(10 r) - 1/10
        shallow*: or not
        steeper*: or beyond 31/r - 1
        grows*: class 2 grows
    Place: slide "Drift for unbalanced load"; read off, not said
    Scope: the example with loads 3 to 1, all counts with jobs of both classes
    Remark: At the ratio of the loads, 3 to 1, DRF drains both classes; under balanced load it does so on the
        diagonal only (br-drift-cone).

    Proof
        ...
        So it drains class 2.
            loads 1: 31*rho1 == 30*r; loads 2: 31*rho2 == 10*r; load: r < 1
            => rho2 - 10/11 < 0 (as stated)
        ...
        So beyond the cone PF drains class 1 from 30 jobs for one of class 2 on,
            loads 1; loads 2; load; one: f1*(x1 + x2) == x1; jobs: x2 > 0; ahead: x1 > 0; much: x1 >= 30*x2
            => rho1 - f1 < 0 (as stated)
        and class 2 up to there.
            loads 1; loads 2; load; ten: f2*(x1 + x2) == 10*x2; jobs; ahead; few: x1 <= 30*x2
            => rho2 - f2 < 0 (as stated)
        Class 2 grows as soon as x1/x2 > 31/r - 1, which is 30 at load 1.
            loads 1; loads 2; ten; jobs; ahead; steeper: r*(x1 + x2) > 31*x2
            => rho2 - f2 > 0 (as stated)
        It grows only beyond 30/r - 1.
            loads 2; ten; jobs; ahead; grows: rho2 > f2
            => r*(x1 + x2) > 30*x2 (as stated)
            by grows * ahead; grows * jobs; loads 2 | x1 + x2
        ...
        There PF drains class 2.
            loads 1; loads 2; load; one: f2*(x1 + x2) == x2; jobs; ahead; beyond: x2 > 10*x1
            => rho2 - f2 < 0 (as stated)
        ...
        So DRF drains class 1 from 3 jobs for one of class 2 on,
            loads 1; loads 2; load; first: f1*(x1 + x2/10) == x1; jobs; ahead; much: x1 >= 3*x2
            => rho1 - f1 < 0 (as stated)
        and class 2 up to there.
            loads 1; loads 2; load; second: f2*(x1 + x2/10) == x2; jobs; ahead; few: x1 <= 3*x2
            => rho2 - f2 < 0 (as stated)
        Class 2 grows as soon as x1/x2 > 31/(10 r) - 1/10, which is 3 at load 1,
            loads 1; loads 2; second; jobs; ahead; steep: 10*r*x1 > (31 - r)*x2
            => rho2 - f2 > 0 (as stated)
        and not before.
            loads 1; loads 2; second; jobs; ahead; shallow: 10*r*x1 <= (31 - r)*x2
            => rho2 - f2 <= 0 (as stated)
        ...
        There DRF drains class 2.
            loads 1; loads 2; load; first: f2*(x2 + x1/10) == x2; jobs; ahead; off: x2 > x1
            => rho2 - f2 < 0 (as stated)
    """
    yield _pf_inside(question)
    yield _pf_beyond(question, "1", "2")
    yield _pf_beyond(question, "2", "1")
    yield _drf(question, "1", "2")
    yield _drf(question, "2", "1")


@STATEMENTS.add("br-load-necessary", said=Said.READER)
def _load_necessary(question: Question) -> None:
    r"""Under any policy with a stationary distribution every resource has a load below 1; with a load above 1
    its backlog of work grows in every state.

    .. math:: \sum_x \pi(x)\varphi_i(x) = \rho_i,\ \pi(0) > 0 \implies \varrho_j < 1

    Hypotheses
        balance*: as many tasks run on average as the load brings
        fits*: in every state the tasks fit into the resource
        all states*: probabilities of the states with jobs add up to 1 less that of the empty system
        empty*: the empty system has a probability
        overload*: the resource has a load above 1
        signs: probabilities and demands are not negative
    Place: slide "Stability condition"; that it is necessary is not said there
    Scope: any policy, any numbers of classes and states; all reals
    Reading: A stationary system starts as many jobs of each class as it ends, so that its mean tasks are the
        load; an irreducible chain with a stationary distribution visits the empty state, from which every
        state is reached. So rho a < 1 cannot be relaxed for any policy. That it suffices is a matter of the
        policy: br-pf-stable, br-drf-stable, br-balanced-stable. Infinitely many states are the limit of
        finitely many.

    Proof
        [most] The load of a resource is at most the probability that there are jobs.
            balance: sum[s](p[s]*f[i,s]) == rho[i]; fits: sum[i](f[i,s]*a[i]) <= 1;
            all states: sum[s](p[s]) == 1 - e; p[s] >= 0; a[i] >= 0
            => sum[i](rho[i]*a[i]) <= 1 - e
            by sign of p * fits; balance | a[i]; all states
        [below] Which is below 1, as the empty system has a probability e.
            empty: e > 0; at most: u <= 1 - e
            => u < 1
        Together.
            balance; fits; all states; p[s] >= 0; a[i] >= 0; empty
            from most knowing all
            from below knowing all with u = sum[i](rho[i]*a[i])
            => sum[i](rho[i]*a[i]) < 1 (as stated)
        With a load above 1 the work for the resource, whose drift is the load less what is in use, grows in
        every state.
            overload: sum[i](rho[i]*a[i]) > 1; fits: sum[i](f[i]*a[i]) <= 1
            => sum[i](a[i]*(rho[i] - f[i])) > 0 (as stated)
    """


@STATEMENTS.add("br-capacity-region")
def _region(question: Question) -> Iterator[Claim]:
    r"""The loads that fit in the example are bounded by the corners (1/10, 0), (1/11, 1/11) and (0, 1/10).

    .. math:: 10\rho_1 + \rho_2 < 1,\ \rho_1 + 10\rho_2 < 1

    Hypotheses
        demands*: tasks demand (10, 1) and (1, 10) of unit capacities
    Place: slide "Capacity region"
    Scope: the example

    Proof
        The corners are (1/10, 0), (1/11, 1/11) and (0, 1/10).
            Computed.
    """
    shares = [[10, 1], [1, 10]] if question.holds("demands") else [[10, 10], [1, 10]]
    yield computed("capacity_corners", shares=shares, gives=[[0, "1/10"], ["1/11", "1/11"], ["1/10", 0]])


@STATEMENTS.add("br-whole-tasks", said=Said.READER)
def _whole(question: Question) -> Iterator[Claim]:
    r"""With whole tasks of (4, 1) and (1, 4) on (16, 16) the largest mixes carry 15/16 of the balanced load,
    and 39/40 of a load of 3 to 1.

    .. math:: \max\{\varrho : \rho \le \operatorname{conv}\{(4,0),(3,3),(0,4)\}\} = .9375,\ .975

    Hypotheses
        whole*: tasks are whole
    Place: slides on the task level; the numbers are not in the text
    Scope: the example

    Proof
        The largest mixes are (4, 0), (3, 3) and (0, 4).
            Computed.
        With equal loads their mixtures carry a load of 15/16.
            Computed.
        With loads 3 to 1 they carry 39/40.
            Computed.
    """
    given = model(FOUR, [16, 16], whole=question.holds("whole"))
    yield computed("largest_mixes", **given, gives=[[0, 4], [3, 3], [4, 0]])
    yield computed("mix_limit", **given, direction=[1, 1], gives="15/16")
    yield computed("mix_limit", **given, direction=[3, 1], gives="39/40")

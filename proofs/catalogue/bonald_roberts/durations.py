r"""Bonald and Roberts on mean durations under balanced fairness: the bound, the example, heavy traffic.

Write :math:`A_j` for the operator :math:`(A_jF)(x) = \sum_i a_{ij}F(x - e_i)`, with F = 0 where a count is
negative. The balance function :math:`\Phi` fits, :math:`h_j = \Phi - A_j\Phi \ge 0`, and at each x other
than 0 some :math:`h_j(x) = 0`. With :math:`G = \sum_x\Phi(x)\rho^x` the mean duration of a job of class i
over its mean size is :math:`\partial_iG/G`.

*The bound on durations* is proved here for all classes and resources, coefficient by coefficient. Those of
:math:`G\varrho_j/(1-\varrho_j)` are :math:`K_j = A_j(\Phi + K_j)`. Let

.. math:: M(x) = (x_i + 1)\Phi(x + e_i), \qquad R(x) = \max_j a_{ij}\,\Phi(x) + \sum_j a_{ij}K_j(x).

If resource j is full at :math:`x + e_i`, then :math:`M = a_{ij}\Phi + A_jM` at x, while

.. math:: R - A_jR = \max_k a_{ik}\,h_j + a_{ij}(\Phi - h_j) + \sum_{k\ne j} a_{ik}(K_k - A_jK_k)
          \ge a_{ij}\Phi,

because :math:`K_k - A_jK_k = \sum_{s\ge1} A_k^s h_j \ge 0`. By induction on the number of jobs :math:`M \le
R`; summed with :math:`\rho^x` this is the bound. With one resource nothing is lost but at x = 0, where M = R.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.bonald_roberts import queues
from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.bonald_roberts.queues import EXAMPLE, THREE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import computed, every
from proofs.claims import Claim, Search, Step
from proofs.statement import Question, Said

__all__ = ["FOUR", "STATEMENTS"]

STATEMENTS = Chapter(
    SOURCE, known={**queues.STATEMENTS.known, "load": "the busiest resource has the stated load"}
)

FOUR = [[4, 1], [1, 4]]


@STATEMENTS.add("br-duration-bound")
def _duration_bound(question: Question) -> Iterator[Claim]:
    r"""Under balanced fairness a mean duration over the mean size is at most the largest share of a task plus
    its shares weighted by load/(1 - load).

    .. math:: E[T_i] \le \sigma_i\Bigl(\max_j a_{ij} + \sum_j a_{ij}\frac{\varrho_j}{1-\varrho_j}\Bigr)

    Hypotheses
        full*: some resource is full whenever there are jobs
        fits*: no resource holds more than its capacity
        largest*: the first term has the largest share
        multiplied: M is the balance function with one job more, times the jobs
        others: with one job less it is so, too, summed over the classes
        before*: what is to be shown holds with fewer jobs
        right: R is the right side of the bound
        recursion*: K of a resource is the sum of the balance function and K with one job less
        demands*
    Place: slide "A useful bound for BF"
    Scope: any numbers of classes and resources; exactly on a grid with 3 classes and 3 resources
    Remark: The slides give the bound without a proof (and with 1 for the largest share); the proof is in the
        docstring of the module and holds for any numbers of classes and resources.
    Reading: By induction over the number of jobs K less its sum with fewer jobs is not negative, and M is at
        most R, as both are the same in the empty state. Summed with the powers of the loads this is the
        bound: the mean number of jobs is the load times the derivative of the logarithm of the sum, and
        Little's law turns it into a duration.

    Proof
        # At a state x, for jobs of one class: P balance function, U with one more job of the class, W the sum
        # of the full resource over the other classes there; M = (x + 1) U; K of each resource. With one job
        # of class l less they are P[l], M[l] and so on. The full resource has the number 1, demands c[l] of
        # the classes and a1 of this one, the others k have b[l,k] and a[k].
        [full] M is a P + A M, for the resource that is full with one more job: the term of the class itself
        there is a (x + 1) P = a P + a x P.
            full: U == a*P + W; multiplied: M == (x + 1)*U; others: A == (x + 1)*W + a*x*P
            => M <= a*P + A
            by full | x + 1; multiplied; others
        [other] K of another resource is at least its sum of the full resource with fewer jobs: the difference
        is the sum of its demands times what remains of both, of the balance function and of K.
            recursion: K == sum[i](b[i]*(P[i] + K[i])); recursion 1: K[l] == sum[i](b[i]*(P[i,l] + K[i,l]));
            fits: P[i] >= sum[l](c[l]*P[i,l]); before: K[i] >= sum[l](c[l]*K[i,l]); demands: b[i] >= 0
            => K - sum[l](c[l]*K[l]) >= 0
            by fits * demands; before * demands; recursion 1 | c[l]
        [pulled] If M <= R with fewer jobs, then so it is in their sums.
            before: M[l] <= R[l]; demands: c[l] >= 0
            => sum[l](c[l]*M[l]) <= sum[l](c[l]*R[l])
            by before * demands
        [right] The sum of the right sides has the sums of its parts.
            right: R[l] == top*P[l] + a1*K1[l] + sum[k](a[k]*K[l,k])
            => sum[l](c[l]*(R[l] - top*P[l] - a1*K1[l])) == sum[k](a[k]*sum[l](c[l]*K[l,k]))
            by right | c[l]
        [split] K of the full resource is the sum of the balance function and its own.
            recursion: K1 == sum[l](c[l]*(P[l] + K1[l]))
            => K1 == sum[l](c[l]*P[l]) + sum[l](c[l]*K1[l])
        [bound] Then M <= R.
            full: M <= a1*P + A; pulled: A <= B; fits: P - Q >= 0; largest: top >= a1;
            right: R == top*P + a1*K1 + sum[k](a[k]*K[k]);
            right 1: B == top*Q + a1*T + sum[k](a[k]*L[k]); split: K1 == Q + T; other: K[k] - L[k] >= 0;
            demands: a[k] >= 0
            => M <= R
            by fits * largest; other * demands
        [room] The full resource, too, holds no more than its capacity with one job less.
            fits: P >= Q
            => P - Q >= 0
        So it is at the state.
            full: U == a1*P + W; multiplied; others: sum[l](c[l]*M[l]) == (x + 1)*W + a1*x*P;
            fits: P >= sum[l](c[l]*P[l]); fits 1: P[i] >= sum[l](c[l]*P[i,l]); largest;
            before: M[l] <= R[l]; before 1: K[i,k] >= sum[l](c[l]*K[i,l,k]); right;
            right 1: R[l] == top*P[l] + a1*K1[l] + sum[k](a[k]*K[l,k]);
            recursion: K1 == sum[l](c[l]*(P[l] + K1[l])); recursion 1: K[k] == sum[i](b[i,k]*(P[i] + K[i,k]));
            recursion 2: K[l,k] == sum[i](b[i,k]*(P[i,l] + K[i,l,k])); demands: c[l] >= 0;
            demands 1: a[k] >= 0; demands 2: b[i,k] >= 0
            from full knowing all with a = a1; A = sum[l](c[l]*M[l])
            from other knowing all with K = K[k]; b[i] = b[i,k]; K[i] = K[i,k]; K[l] = K[l,k];
            K[i,l] = K[i,l,k]
            from pulled knowing all
            from right knowing all
            from split knowing all
            from room knowing all with Q = sum[l](c[l]*P[l])
            from bound knowing all with A = sum[l](c[l]*M[l]); B = sum[l](c[l]*R[l]); Q = sum[l](c[l]*P[l]);
            T = sum[l](c[l]*K1[l]); L[k] = sum[l](c[l]*K[l,k])
            => M <= R (as stated)
        The inequality of the coefficients, three classes on three resources, up to 4 jobs each.
            Computed.
    """
    yield every("duration_terms", shares=THREE, size=4, largest=question.holds("largest"))


@STATEMENTS.add("br-duration-bound-tight", said=Said.READER)
def _one_resource(question: Question) -> Iterator[Claim]:
    r"""With one resource the bound on durations is the mean duration.

    .. math:: m = 1: \quad E[T_i] = \sigma_i\, a_i/(1-\varrho)

    Hypotheses
        law*: the measure sums to 1/(1 - load)
        derivative*: its derivative
        mean*: durations are derivatives of the logarithm
        wait*: load over one minus load
    Place: slide "A useful bound for BF"; that it is tight is not said
    Scope: any number of classes, all loads; one resource
    Reading: On one resource the balance measure is multinomial, so that it sums to 1/(1 - load); D is the
        derivative of that, and mean durations are derivatives of log G by Little's law.

    Proof
        One resource: the measure sums to G = 1/(1 - r), r the load of all classes i; its derivative D by the
        load of a class of share b is b G/(1 - r), the mean duration T is D/G, and the bound is b + b r/(1 -
        r): at most.
            law: G*(1 - sum[i](rho[i]*a[i])) == 1; derivative: D*(1 - sum[i](rho[i]*a[i])) == b*G;
            mean: T*G == D; wait: k*(1 - sum[i](rho[i]*a[i])) == sum[i](rho[i]*a[i])
            => T <= b + b*k (as stated)
        The same: at least.
            law; derivative; mean; wait
            => T >= b + b*k (as stated)
        Two classes with shares 1 and 1/3 and loads 1/4 and 3/4, so that r = 1/2.
            Computed.
        Their mean durations from the law itself.
            Computed.
    """
    yield computed("balanced_bound", shares=[[1], ["1/3"]], loads=["1/4", "3/4"], gives=[2, "2/3"])
    yield computed(
        "balanced_durations",
        shares=[[1], ["1/3"]],
        loads=["1/4", "3/4"],
        total=60,
        gives=["2.0000", "0.6667"],
    )


# (load of the busiest resource, jobs in total of the enclosure, loads, mean durations, bounds)
EQUAL = (
    ("3/10", 60, "3/11", "1.4384", "103/70"),
    ("1/2", 80, "5/11", "2.0397", "21/10"),
    ("7/10", 130, "7/11", "3.4719", "107/30"),
    ("9/10", 400, "9/11", "10.7588", "109/10"),
)

UNEQUAL = (
    ("3/10", 60, ["9/31", "3/31"], ["1.4295", "1.1551"]),
    ("1/2", 80, ["15/31", "5/31"], ["2.0029", "1.3099"]),
    ("7/10", 130, ["21/31", "7/31"], ["3.3398", "1.5670"]),
    ("9/10", 400, ["27/31", "9/31"], ["10.0124", "2.3939"]),
)


@STATEMENTS.add("br-durations-example", said=Said.READER)
def _table(question: Question) -> Iterator[Step]:
    r"""Mean durations of the example under balanced fairness and their bounds, at loads .3, .5, .7 and .9.

    .. math:: a = \begin{pmatrix}1&.1\\.1&1\end{pmatrix}: \quad E[T]/\sigma = 1.4384,\ 2.0397,\ 3.4719,\
        10.7588

    Hypotheses
        load*
    Place: slides on mean service rates; the numbers are not in the text
    Scope: the example; equal loads and loads 3 to 1; rational enclosures narrower than half of the last digit
    """
    right = question.holds("load")
    for load, jobs, rho, value, bound in EQUAL:
        given = {"shares": EXAMPLE, "loads": [rho, rho] if right else ["1/2", "1/2"]}
        claim = computed("balanced_durations", **given, total=jobs, gives=[value, value])
        yield Step(f"Load {load}, equal loads: {value}, enclosed exactly.", claim)
        yield Step(f"The bound there is {bound}.", computed("balanced_bound", **given, gives=[bound, bound]))
    for load, jobs, pair, values in UNEQUAL:
        claim = computed(
            "balanced_durations",
            shares=EXAMPLE,
            loads=pair if right else ["1/2", "1/2"],
            total=jobs,
            gives=values,
        )
        yield Step(f"Load {load}, loads 3 to 1: {values[0]} and {values[1]}.", claim)


@STATEMENTS.add("br-service-example", said=Said.READER)
def _service(question: Question) -> Iterator[Claim]:
    r"""Mean numbers of running tasks of a job under balanced fairness, demands (4, 1) and (1, 4) of 16 and
    16.

    .. math:: \rho_i/E[x_i] = 1.9339 \text{ at load } .5,\quad .3432 \text{ at load } .9

    Hypotheses
        load*
    Place: slides on mean service rates; the numbers are not in the text
    Scope: the example with divisible tasks; rational enclosures narrower than half of the last digit

    Proof
        Loads 8/5 and 8/5: 1.9339 and 1.9339 tasks.
            Computed.
        Loads 72/25 and 72/25: 0.3432 and 0.3432 tasks.
            Computed.
        Loads 216/65 and 72/65: 0.3989 and 1.0502 tasks.
            Computed.
    """
    cases = (
        (120, ["8/5", "8/5"], ["1.9339", "1.9339"]),
        (400, ["72/25", "72/25"], ["0.3432", "0.3432"]),
        (400, ["216/65", "72/65"], ["0.3989", "1.0502"]),
    )
    for jobs, loads, values in cases:
        given = {"loads": loads if question.holds("load") else [1, 1], "total": jobs}
        yield computed("balanced_service", demands=FOUR, capacities=[16, 16], **given, gives=values)


@STATEMENTS.add("br-heavy-traffic")
def _heavy(question: Question) -> Iterator[Claim]:
    r"""Proportional fairness and balanced fairness have the same mean durations in heavy traffic.

    .. math:: (1-\varrho)\,\bigl(E_{PF}[T] - E_{BF}[T]\bigr) \to 0 \quad (\varrho\to1)

    Hypotheses
        margin*: a difference within the stated margin counts as equal
    Place: slide "Future work"
    Scope: the example with equal loads up to .95: enclosures of balanced fairness, simulations of PF
    Remark: A conjecture of the slides, open. The chain of the library has the difference, times 1 - load, at
        .0605, .0566, .0444, .0347 for the loads .9, .95, .98, .99, with estimated errors below 1e-6: it
        falls, slowly.

    Proof
        Balanced fairness: for r = 1/2, 1/4, 1/10, 1/20 the mean duration times r is below 11/10, the sum of
        the shares of a task, by at most 3r/10 (exact enclosures).
            Computed.
        PF, simulated at random loads with r between 1/20 and 1/5: its mean duration times r is within
        sqrt(r)/3 of that of balanced fairness, three standard errors included.
            Computed.
    """
    pairs = [["1/2", 80], ["1/4", 150], ["1/10", 350], ["1/20", 650]]
    limit = {"shares": EXAMPLE, "direction": ["10/11", "10/11"], "pairs": pairs, "slope": "3/10"}
    yield every("balanced_heavy", **limit)
    yield Search(
        "heavy_gap", {"events": 100_000, "factor": "1/3", "bound": question.holds("margin")}, number=6
    )

r"""Bonald and Roberts on mean durations under proportional fairness: the infinite chain, enclosed.

With :math:`\psi = (1 + e)\rho`, loads that still fit, and prices :math:`q_i = \sum_j p_ja_{ij}` of a task,
:math:`\varphi_iq_i = x_i`,

.. math:: \sum_i \frac{x_i}{\psi_i}(\psi_i - \varphi_i) \le \sum_i q_i(\psi_i - \varphi_i)
          = \sum_j p_j\Bigl(\sum_i\psi_ia_{ij} - 1\Bigr) \le 0 .

So :math:`V = \sum_i x_i^2/\rho_i` has, with mean sizes 1 and :math:`P_i = \varphi_i/\rho_i`, the drift

.. math:: QV = \sum_i (2x_i + 1) - P_i(2x_i - 1) \le K - 2e\sum_i x_i, \qquad K \ge 2 + \sum_i P_i,

and multiples of V outside of a box, with numbers found for the states inside, enclose the means
(:mod:`proofs.definitions.queues.enclosures`).
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.bonald_roberts import stability
from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.bonald_roberts.queues import EXAMPLE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, computed
from proofs.claims import Counterexample, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(
    SOURCE,
    place="slides on mean service rates; the numbers are not in the text",
    known=stability.STATEMENTS.known,
)

# (load of the busiest resource, loads, counts of the box, mean durations)
CASES = (
    ("3/10, equal loads", ["3/11", "3/11"], [22, 22], ["1.4286", "1.4286"]),
    ("1/2, equal loads", ["5/11", "5/11"], [32, 32], ["2.0000", "2.0000"]),
    ("7/10, equal loads", ["7/11", "7/11"], [50, 50], ["3.3364", "3.3364"]),
    ("3/10, loads 3 to 1", ["9/31", "3/31"], [20, 14], ["1.4288", "1.1433"]),
    ("1/2, loads 3 to 1", ["15/31", "5/31"], [36, 20], ["2.0010", "1.2634"]),
    ("7/10, loads 3 to 1", ["21/31", "7/31"], [60, 20], ["3.3372", "1.4157"]),
    ("9/10, loads 3 to 1", ["27/31", "9/31"], [200, 26], ["10.0157", "1.8479"]),
    ("19/20, loads 3 to 1", ["57/62", "19/62"], [400, 32], ["20.0246", "2.6146"]),
)


@STATEMENTS.add("br-pf-durations-example", said=Said.READER)
def _durations(question: Question) -> Iterator[Step]:
    r"""Mean durations of the example under proportional fairness, at loads from .3 to .95.

    .. math:: a = \begin{pmatrix}1&.1\\.1&1\end{pmatrix}: \quad E[T]/\sigma = (10.0157,\ 1.8479) \text{ for }
        \rho = (\tfrac{27}{31}, \tfrac{9}{31})

    Hypotheses
        load*: the busiest resource has the stated load
        room*: the loads times 1 + e fit
        prices*: the cost of the tasks of a class is its number of jobs
        ratio: y is jobs over load
        jobs: counts are not negative
        tasks: a class with jobs runs tasks
        loads: loads are positive
        slackness*, signs*
        drift*: the conclusion of the steps before
        most*: K is at least two plus the tasks over the loads
        many*: it holds with R jobs
        slope*: the multiple of V is not too small
        beyond*: there are at least R jobs
    Scope: the example with exponential sizes; equal loads up to .7 and loads 3 to 1; the infinite chain,
        enclosed more narrowly than half of the last digit, by states looked at in fractions
    Remark: Not a simulation and not a cut-off chain: bounds on the means of the infinite one.
    Reading: Functions that grow no faster than V have a mean drift of 0, so bounds in all states are bounds
        of the mean; Little's law turns it into a duration. For rates and steps of the square root of V are
        bounded, and its drift is negative far out; so the exponential of a small multiple of it is integrable
        (Foster's criterion), and V is. Then the drift of g has the mean 0 by invariance of the law under the
        uniformised chain.

    Proof
        Per class with jobs: jobs over s times (s - f), s the load times 1 + e, are at most the cost q of a
        task times (s - f). Without jobs the left side is 0 and the right side q s.
            prices: q*f == x; ratio: y*s == x; jobs: x >= 0; tasks: f > 0; loads: s > 0
            => y*(s - f) <= q*(s - f)
            by jobs | s - f; loads * tasks * not the conclusion
            degree 2
        Summed over the classes the right sides are at most 0.
            slackness 1: p1*(f1*a1_1 + f2*a2_1) == p1; slackness 2: p2*(f1*a1_2 + f2*a2_2) == p2;
            signs 1: p1 >= 0; signs 2: p2 >= 0; room 1: s1*a1_1 + s2*a2_1 <= 1; room 2: s1*a1_2 + s2*a2_2 <= 1
            => (p1*a1_1 + p2*a1_2)*(s1 - f1) + (p1*a2_1 + p2*a2_2)*(s2 - f2) <= 0
        So, times 1 + e and with P tasks over loads, the drift of V is at most K - 2e times the jobs.
            drift: x*(1 + e - P) + y*(1 + e - R) <= 0; most: K >= 2 + P + R
            => 2*x + 1 - P*(2*x - 1) + 2*y + 1 - R*(2*y - 1) <= K - 2*e*(x + y)
        Outside of the box, from above: with R jobs or more the jobs n less d times the fall of V are at most
        c, if so they are with R. With fewer than R every state is looked at.
            many: R - d*(2*e*R - K) <= c; slope: 2*e*d >= 1; beyond: n >= R
            => n - d*(2*e*n - K) <= c
        From below likewise.
            many: d*(2*e*R - K) >= c; slope; beyond
            => d*(2*e*n - K) >= c
    """
    right = question.holds("load")
    for name, loads, box, values in CASES if right else CASES[:1]:
        given = {"shares": EXAMPLE, "loads": loads if right else ["1/3", "1/3"], "box": box}
        yield Step(
            f"Load {name}: {values[0]} and {values[1]}.", computed("pf_durations", **given, gives=values)
        )


@STATEMENTS.refute("br-pf-below-balanced", said=Said.READER)
def _pf_below_balanced() -> Counterexample:
    r"""No class has longer mean durations under proportional fairness than under balanced fairness.

    .. math:: E_{PF}[T_i] \le E_{BF}[T_i] \quad \forall i

    Scope: all loads
    Case: Demands (4, 1) and (1, 4) of 16 and 16, loads 3 to 1, busiest resource at 7/10: class 1 takes 0.8372
        under PF and 0.8368 under balanced fairness. Both are enclosed.
    Remark: Our own question, not said on the slides, whose curves are close. It is so for both examples with
        equal loads as far as they were computed, PF being shorter by up to a tenth. With loads 3 to 1 the
        class of the busier resource may take a little longer: at 9/10 in the other example 10.0157 against
        10.0124 (br-pf-durations-example, br-durations-example).
    """
    return against(
        "pf_against_balanced",
        shares=[["1/4", "1/16"], ["1/16", "1/4"]],
        loads=["168/65", "56/65"],
        box=[60, 30],
        total=130,
    )

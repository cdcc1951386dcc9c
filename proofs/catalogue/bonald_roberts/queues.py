r"""Bonald and Roberts on jobs that come and go: the balance function and the law of balanced fairness.

With shares :math:`a_{ij}` of resource j per task of class i,

.. math:: \Phi(0) = 1, \quad \Phi(x) = \max_j\sum_i a_{ij}\Phi(x - e_i), \quad
          \varphi_i(x) = \Phi(x - e_i)/\Phi(x), \quad \pi(x) = \pi(0)\,\Phi(x)\prod_i\rho_i^{x_i}.

In the steps P is the value of a balance function at a state and P1, P2, ... (or Q1, Q2, ...) those with one
job of class 1, 2, ... less.

Hypotheses
    demands: shares are not negative
    before: it holds with fewer jobs
    attained: the balance function is the sum of the largest resource
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import every
from proofs.claims import Claim
from proofs.statement import Question

__all__ = ["EXAMPLE", "STATEMENTS", "THREE"]

STATEMENTS = Chapter(SOURCE, place='slide "Balanced fairness"', known=__doc__)

EXAMPLE = [[1, "1/10"], ["1/10", 1]]
THREE = [[2, 1, "1/2"], [1, "3/2", 1], ["1/2", 1, 3]]


@STATEMENTS.add("br-product-form")
def _product_form(question: Question) -> Iterator[Claim]:
    r"""Under balanced fairness the balance function times the powers of the loads solves the balance
    equations.

    .. math:: \pi(x) = \pi(0)\,\Phi(x)\prod_i\rho_i^{x_i}, \quad \lambda_i\pi(x-e_i) = \mu_i\varphi_i(x)\pi(x)

    Hypotheses
        rates*: tasks are the balance function with one job less over that of the state
        load*: arrivals are loads times the rate at which one task ends jobs
    Scope: any numbers of classes and resources, all loads (exponential sizes); exactly on a grid of 8 x 8
        states

    Proof
        Per class the flow up into a state, lam T Q, is the flow down out of it, mu f T rho P (P, Q: balance
        function there and with one job less; T: the factors that both measures share): at most.
            rates: f*P == Q; load: lam == rho*mu
            => lam*T*Q <= mu*f*T*rho*P
        Per class the flow up into a state, lam T Q, is the flow down out of it, mu f T rho P (P, Q: balance
        function there and with one job less; T: the factors that both measures share): at least.
            rates; load
            => lam*T*Q >= mu*f*T*rho*P
        What flows out of a state because of arrivals flows back in from the state with one job more, by the
        same identity there; so all balance equations hold.
            In words: The identity, at x and at all x + e_i, summed over the classes.
        The example on a grid of 8 x 8 states, with mean sizes 1 and 2.
            Computed (as stated).
    """
    given = {"shares": EXAMPLE, "loads": ["1/3", "1/2"], "sizes": [1, 2], "size": 7}
    yield every("balance_equations", **given, balanced=question.holds("rates"))


@STATEMENTS.add("br-balanced-fits")
def _fits(question: Question) -> Iterator[Claim]:
    r"""Balanced fairness fits, and uses some resource fully, whenever there are jobs.

    .. math:: \max_j\sum_i\varphi_i(x)a_{ij} = 1 \quad (x \ne 0)

    Hypotheses
        largest*: the balance function is at least the sum of each resource
        attained*
        rates*: tasks are the balance function with one job less over that of the state
        demand*: a class demands some of the resource
        before*: the balance function is positive with fewer jobs
    Scope: each resource on its own, any number of classes; exactly on a grid with 3 classes and 3 resources
    Reading: By induction over the number of jobs, from 1 in the empty state; class 1 is one with jobs that
        demands the resource. Of a resource that nobody with jobs demands nothing is used.

    Proof
        [positive] The balance function is positive, by what it is with fewer jobs: class 1, which demands
        some of a resource, and the others i.
            largest: P >= a*Q + sum[i](a[i]*Q[i]); demand: a > 0; demand 1: a[i] >= 0; before: Q > 0;
            before 1: Q[i] > 0
            => P > 0
            by demand * before; demand 1 * before 1
        [fits] No resource holds more than its capacity.
            largest; positive: P > 0; rates: f[i]*P == Q[i]; rates 1: f*P == Q
            => a*f + sum[i](a[i]*f[i]) <= 1
            by not the conclusion * positive; rates | a[i]; rates 1 | a
        So it is wherever there are jobs, with a resource that they demand.
            largest; demand; demand 1; before; before 1; rates; rates 1
            from positive knowing all
            from fits knowing all
            => a*f + sum[i](a[i]*f[i]) <= 1 (as stated)
        [full] The resource that attains the maximum is full.
            attained: P == a*Q + sum[i](a[i]*Q[i]); positive; rates; rates 1
            => a*f + sum[i](a[i]*f[i]) >= 1
            by not the conclusion * positive; rates | a[i]
        And it is full.
            attained; demand; demand 1; before; before 1; rates; rates 1
            from positive knowing all
            from full knowing all
            => a*f + sum[i](a[i]*f[i]) >= 1 (as stated)
        Three classes on three resources, states with up to 4 jobs of each class.
            Computed (as stated).
    """
    largest = question.holds("largest")
    yield every("balanced_usage", shares=THREE, size=4, largest=largest)


@STATEMENTS.add("br-balanced-smallest")
def _smallest(question: Question) -> Iterator[Claim]:
    r"""No balance function that fits is smaller than that of balanced fairness anywhere.

    .. math:: \Psi(0)=1,\ \Psi(x) \ge \max_j\sum_i a_{ij}\Psi(x-e_i) \implies \Psi \ge \Phi

    Hypotheses
        attained*
        fits*: the other function fits
        before*: the other function is not below with fewer jobs
        demands*
    Scope: any numbers of classes and resources, the induction in words; exactly on a grid with 3 of each

    Proof
        If another function that fits is not below before, it is not below at x.
            attained: P == sum[i](a[i]*P[i]); fits: Q >= sum[i](a[i]*Q[i]); before: Q[i] >= P[i];
            demands: a[i] >= 0
            => Q >= P
        Both are 1 at the empty state; so by induction it is nowhere below.
            In words: Induction on the jobs.
        The store-and-forward function as the other, three classes, up to 4 jobs each.
            Computed.
    """
    yield every("balance_below_others", shares=THREE, size=4)


@STATEMENTS.add("br-balanced-stable")
def _normalisable(question: Question) -> Iterator[Claim]:
    r"""The law of balanced fairness has a finite sum if and only if no resource has a load of 1 or more.

    .. math:: \sum_x\Phi(x)\rho^x < \infty \iff \rho a < 1

    Hypotheses
        load*: each resource has a load below 1
        overload*: a resource has a load of at least 1
        attained
        series: the coefficients of the product follow the recursion with a rest
        rest*: the coefficients of the other resources are not negative
        before
        recursion*: the balance function is at least the sum of each resource
        sum: partial sums of a geometric series
        demands*
    Scope: any numbers of classes and resources; that there are infinitely many layers in words

    Proof
        If: the balance function is at most the coefficient S of the product of 1/(1 - load) over the
        resources, whose recursion for one resource has the coefficient T of the others as its rest.
            attained: P == sum[i](a[i]*P[i]); series: S == T + sum[i](a[i]*S[i]); rest: T >= 0;
            before: P[i] <= S[i]; demands: a[i] >= 0
            => P <= S
        The partial sums s of each factor, a geometric series, stay below b = 1/(1 - r).
            load: r < 1; sum: t == 1 + r*s; demands: r >= 0
            besides before: s <= b; bound: b*(1 - r) == 1
            => t <= b
        That bound b is positive, so the product is finite, and so is the sum of the measure.
            load; bound
            => b > 0
        Only if: with one resource of load r >= 1 the states with k jobs, of weight M, weigh at least r times
        those with k - 1 jobs, of weight N, so always at least 1.
            recursion: M >= r*N; before: N >= 1; overload: r >= 1
            => M >= 1
        Infinitely many such layers have no finite sum.
            In words: Terms of a finite sum tend to 0.
        Both bounds on the layers of the example, up to 12 jobs.
            Computed.
    """
    yield every("mass_of_totals", shares=EXAMPLE, loads=["1/3", "1/2"], total=12)

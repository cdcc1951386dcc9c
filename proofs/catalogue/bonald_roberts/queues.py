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
        law*: the measure is the balance function times the powers of the loads, times that of the empty state
        rates*: tasks are the balance function with one job less over that of the state
        load*: arrivals are loads times the rate at which one task ends jobs
    Scope: any numbers of classes and resources, all loads (exponential sizes); exactly on a grid of 8 x 8
        states

    Proof
        # At a state, with one job of class i less and with one more: z, q[i], y[i] the measure, P, Q[i], R[i]
        # the balance function; f[i] and g[i] are tasks at the state and with one job more; w is the measure
        # of the empty state times the powers of the loads at the state. Q and q are 0 where there is no job.
        [less] Per class the flow up into a state is no more than the flow down out of it,
            law: z == w*P; law 1: q*rho == w*Q; rates: f*P == Q; load: lam == rho*mu
            => lam*q <= mu*f*z
            by law | mu*f; law 1 | mu; rates | mu*w; load | q
        [more] and no less.
            law; law 1; rates; load
            => lam*q >= mu*f*z
            by law | mu*f; law 1 | mu; rates | mu*w; load | q
        [equal] So it is the same.
            less: s <= t; more: s >= t
            => s == t
        [down] Per class the flow up into a state is the flow down out of it,
            law; law 1: q[i]*rho[i] == w*Q[i]; rates: f[i]*P == Q[i]; load: lam[i] == rho[i]*mu[i]
            from less knowing all with q = q[i]; rho = rho[i]; Q = Q[i]; f = f[i]; lam = lam[i]; mu = mu[i]
            from more knowing all with q = q[i]; rho = rho[i]; Q = Q[i]; f = f[i]; lam = lam[i]; mu = mu[i]
            from equal knowing all with s = lam[i]*q[i]; t = mu[i]*f[i]*z
            => lam[i]*q[i] == mu[i]*f[i]*z (as stated)
        [power] The state has one load less than that with one job more.
            law
            => z*rho == (w*rho)*P
            by law | rho
            degree 2
        [balance] What flows out of a state flows back in, from the states with one job less and one more.
            down: lam[i]*q[i] == mu[i]*f[i]*z; up: lam[i]*z == mu[i]*g[i]*y[i]
            => sum[i](lam[i]*z + mu[i]*f[i]*z) == sum[i](lam[i]*q[i] + mu[i]*g[i]*y[i])
            by down; up
        So all balance equations hold.
            law; law 1; law 2: y[i] == w*rho[i]*R[i]; rates; rates 1: g[i]*R[i] == P; load
            from down knowing all
            from power knowing all with rho = rho[i]
            from less knowing all with z = y[i]; P = R[i]; w = w*rho[i]; q = z; Q = P; f = g[i];
            rho = rho[i]; lam = lam[i]; mu = mu[i]
            from more knowing all with z = y[i]; P = R[i]; w = w*rho[i]; q = z; Q = P; f = g[i];
            rho = rho[i]; lam = lam[i]; mu = mu[i]
            from equal knowing all with s = lam[i]*z; t = mu[i]*g[i]*y[i]
            from balance knowing all
            => sum[i](lam[i]*z + mu[i]*f[i]*z) == sum[i](lam[i]*q[i] + mu[i]*g[i]*y[i]) (as stated)
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
        empty: the balance function is 1 in the empty state
        largest*: the balance function is at least the sum of each resource
        attained*
        rates*: tasks are the balance function with one job less over that of the state
        demand*: a class with jobs demands some of the resource
    Scope: at each state each resource that a class with jobs demands, another one at other states, and any
        number of classes; exactly on a grid with 3 classes and 3 resources
    Remark: Of a resource that nobody with jobs demands nothing is used; the classes are those with jobs.

    Proof
        # P: balance function at a state, Q and Q[i] with one job less of a class that demands the resource,
        # and of each other one i.
        The balance function is positive, by what it is with fewer jobs, and so no resource holds more than
        its capacity.
            largest: P >= a*Q + sum[i](a[i]*Q[i]); demand: a > 0; demand 1: a[i] >= 0; rates: f[i]*P == Q[i];
            rates 1: f*P == Q
            empty empty: P == 1
            less P = Q
            always P > 0
            => a*f + sum[i](a[i]*f[i]) <= 1 (as stated)
            by demand * before; demand 1 * before i; not the conclusion * always; rates | a[i]; rates 1 | a
        And the resource that attains the maximum is full.
            attained: P == a*Q + sum[i](a[i]*Q[i]); demand; demand 1; rates; rates 1
            empty empty: P == 1
            less P = Q
            always P > 0
            => a*f + sum[i](a[i]*f[i]) >= 1 (as stated)
            by demand * before; demand 1 * before i; not the conclusion * always; rates | a[i]; rates 1 | a
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
        empty*: both are 1 in the empty state
        attained*
        fits*: the other function fits
        demands*
    Scope: any numbers of classes and resources; exactly on a grid with 3 of each

    Proof
        # P, R: both balance functions at a state, Q, S with one job less of a class, Q[i], S[i] of another
        # one.
        If another function that fits is not below with fewer jobs, it is not below at a state; and so
        nowhere.
            attained: P == a*Q + sum[i](a[i]*Q[i]); fits: R >= a*S + sum[i](a[i]*S[i]); demands: a >= 0;
            demands 1: a[i] >= 0
            empty empty: P == 1; empty 1: R == 1
            less P = Q; R = S
            always R >= P
            => R >= P (as stated)
            by demands * before; demands 1 * before i
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
        attained: the balance function is the sum of a resource at the state, and 1 more in the empty state
        series: the coefficients of the product of 1/(1 - load) over the resources follow the recursion of
            each resource, with the coefficients of the others as its rest
        rest*: these are not negative, and at least 1 in the empty state
        before
        shift: with one job less the states weigh no more than they do themselves, times the load
        product: the rest of a resource adds up to at most the product without it
        sum: the product with it is that over 1 less its load
        weights: powers of loads are not negative
        recursion*: states with up to n + 1 jobs weigh what the empty one does and at least the load of each
            resource times those with up to n jobs
        empty: the empty state has the weight 1
        demands*
    Scope: any numbers of classes and resources, all loads; sums over any states to which those with one job
        less belong
    Reading: By induction over the number of jobs, from the empty state, where both coefficients are 1, and
        over the resources, as the product is 1 without any. The recursions are those of the balance function,
        times the powers of the loads and summed over the states. So if all loads are below 1 all partial sums
        have one bound, and else they exceed every number.

    Proof
        # P: balance function, S: coefficient of the product, T: of the product without the resource that is
        # the largest at the state; Q, U: P and S with one job less, 0 where there is none; e: 1 in the empty
        # state, and 0 in others; z: power of the loads. Of one resource: c
        # its demands, r its load, R the rest, B and b the product without it and with it.
        [below] The balance function is at most the coefficient of the product.
            attained: P == e + sum[i](a[i]*Q[i]); series: S == T + sum[i](a[i]*U[i]); rest: T >= e;
            before: Q[i] <= U[i]; demands: a[i] >= 0
            => P <= S
            by before * demands
        [weighed] So it is in all states s together,
            below: P[s] <= S[s]; weights: z[s] >= 0
            => sum[s](z[s]*P[s]) <= sum[s](z[s]*S[s])
            by below * weights
        [one] and with the recursion of one resource the coefficients add up to no more than the product.
            series: S[s] == R[s] + sum[i](c[i]*U[i,s]);
            shift: sum[s](z[s]*sum[i](c[i]*U[i,s])) <= r*sum[s](z[s]*S[s]);
            product: sum[s](z[s]*R[s]) <= B
            => (1 - r)*sum[s](z[s]*S[s]) <= B
            by series | z[s]
        [divided] One less the load is positive.
            load: r < 1; sum: b*(1 - r) == B; one: (1 - r)*G <= B
            => G <= b
            by load * not the conclusion
        [less] What is below that is below the product as well.
            weighed: F <= G; divided: G <= b
            => F <= b
        If: all partial sums of the measure have one bound, the product.
            attained: P[s] == e[s] + sum[i](a[i,s]*Q[i,s]); series 1: S[s] == T[s] + sum[i](a[i,s]*U[i,s]);
            rest: T[s] >= e[s]; before: Q[i,s] <= U[i,s]; demands: a[i,s] >= 0; weights; series; shift;
            product; load; sum
            from below knowing all with P = P[s]; S = S[s]; T = T[s]; e = e[s]; a[i] = a[i,s];
            Q[i] = Q[i,s]; U[i] = U[i,s]
            from weighed knowing all
            from one knowing all
            from divided knowing all with G = sum[s](z[s]*S[s])
            from less knowing all with F = sum[s](z[s]*P[s]); G = sum[s](z[s]*S[s])
            => sum[s](z[s]*P[s]) <= b (as stated)
        Only if: with a resource of load r >= 1 the states with up to n jobs weigh at least n + 1.
            empty: m[0] == 1; recursion: m[n+1] >= 1 + r*m[n]; overload: r >= 1
            => m[n] >= n + 1 (as stated)
            by induction * overload; overload * from
        Both bounds on the layers of the example, up to 12 jobs.
            Computed.
    """
    yield every("mass_of_totals", shares=EXAMPLE, loads=["1/3", "1/2"], total=12)

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
from proofs.statement import Question, Said

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


@STATEMENTS.add("br-balanced-insensitive", said=Said.READER)
def _insensitive(_: Question) -> None:
    r"""Under balanced fairness the numbers of jobs have the same law for all sizes of phase type with the
    same means.

    .. math:: \pi(x) = \pi(0)\,\Phi(|x|)\prod_i|x_i|!\prod_k\frac{\rho_{ik}^{x_{ik}}}{x_{ik}!}, \quad
              \varphi_i\sum_{|x|=m}\pi(x) = \sum_k\rho_{ik}\sum_{|x|=m-e_i}\pi(x)

    Hypotheses
        law*: the measure is the balance function of the numbers of jobs times the weight of their stages, and
            times what the other classes bring
        rates*: tasks are the balance function with one job less over that of the state
        weight*: the weight is the number of orders in which jobs may have these stages, times the powers of
            the loads of the stages: so times jobs of a stage it is that without one of them, times the load
            of the stage and the number of jobs
        equal*: the jobs of a class have equal parts of its tasks
        some: the class has jobs at the state, and with one job more; a state without is a part of its own
        traffic*: what leaves a stage has begun there, or comes from another stage
        begin*: a job begins in some stage
        end*: from a stage it goes to another one, or ends
        stages*: all stages together, by whichever letter
        out: what flows out of the state, by arrivals and by ends of stages
        back: what flows into it, by arrivals, from stage to stage, and by ends
        jobs*: each job of the class is in a stage
        once*: for each stage, the states with one job of it less are the states with one job less
        load*: the loads of the stages add up to the load of the class
    Place: not in the slides, which use it where they compare durations
    Scope: any numbers of classes and stages, all phase types; of one class, as the others stay as they are
    Reading: The balances of the classes add up to that of the state. The last step is the recursion that the
        law of exponential sizes has (br-product-form), with the stages of the other classes as they stand,
        and so summed over them too; both laws are the same where they add up to 1. The loads of the stages
        add up to arrivals times the mean size, as the traffic equations say. Laws of phase type come as near
        to any law as one likes.

    Proof
        # One class with N jobs at a state. Of stage k: n[k] jobs, r[k] load, u[k] rate; P and F: measure and
        # balance function, B[k] and G with one job of the stage less, M and L[k] weights. U[k]: measure times
        # tasks of the jobs of stage k. R[j,k]: the same of stage j where one of k is in j instead, with n1,
        # P1 and M1; V[j] where one in j is added, with n2, P2, M2 and H. c: what the other classes bring.
        [less] The jobs of a stage have no more tasks than its load times the measure with one of them less,
            law: P == c*F*M; law 1: B == c*G*L; rates: f*F == G; weight: n*M == N*r*L; equal: N*U == n*f*P;
            some: N > 0
            => U <= r*B
            by some * not the conclusion; some * not the conclusion | N
        [more] and no fewer.
            law; law 1; rates; weight; equal; some
            => U >= r*B
            by some * not the conclusion; some * not the conclusion | N
        [same] So they have as many.
            less: s <= t; more: s >= t
            => s == t
        [stage] Jobs leave stages as often as jobs come into them,
            share: U[k] == r[k]*B[k]; share 1: R[j,k] == s[j]*B[k];
            traffic: r[k]*u[k] == z*a[k] + sum[j](s[j]*v[j]*q[j,k])
            => sum[k](z*a[k]*B[k]) + sum[j,k](v[j]*q[j,k]*R[j,k]) == sum[k](u[k]*U[k])
            by share | u[k]; share 1 | v[j]*q[j,k]; traffic | B[k]
        [ends] and end, by their loads, as often as they begin,
            traffic; begin: sum[k](a[k]) == 1; end: o[j] + sum[k](q[j,k]) == 1;
            stages: sum[j](s[j]*v[j]) == sum[k](r[k]*u[k])
            => sum[j](v[j]*o[j]*s[j]) == z
            by traffic | 1; end | s[j]*v[j]
            degree 2
        [gone] at this state, too.
            share 2: V[j] == s[j]*P; ends: sum[j](v[j]*o[j]*s[j]) == z
            => sum[j](v[j]*o[j]*V[j]) == z*P
            by share 2 | v[j]*o[j]; ends | P
        [balance] What flows out flows back in.
            out: O == S + T; back: I == W + Y; stage: W == T; gone: Y == S
            => I == O
        So the measure solves the balance equations of jobs with stages.
            law: P == c*F*M; law 1: B[k] == c*G*L[k]; law 2: P1[j,k] == c*F*M1[j,k];
            law 3: P2[j] == c*H*M2[j]; rates: f*F == G; rates 1: g*H == F; weight: n[k]*M == N*r[k]*L[k];
            weight 1: n1[j,k]*M1[j,k] == N*s[j]*L[k]; weight 2: n2[j]*M2[j] == (N + 1)*s[j]*M;
            equal: N*U[k] == n[k]*f*P; equal 1: N*R[j,k] == n1[j,k]*f*P1[j,k];
            equal 2: (N + 1)*V[j] == n2[j]*g*P2[j]; some: N > 0; some 1: N + 1 > 0;
            traffic; begin; end; stages; out: O == z*P + sum[k](u[k]*U[k]);
            back: I == sum[k](z*a[k]*B[k]) + sum[j,k](v[j]*q[j,k]*R[j,k]) + sum[j](v[j]*o[j]*V[j])
            from less knowing all with B = B[k]; L = L[k]; n = n[k]; r = r[k]; U = U[k]
            from more knowing all with B = B[k]; L = L[k]; n = n[k]; r = r[k]; U = U[k]
            from same knowing all with s = U[k]; t = r[k]*B[k]
            from less knowing all with P = P1[j,k]; M = M1[j,k]; B = B[k]; L = L[k]; n = n1[j,k]; r = s[j];
            U = R[j,k]
            from more knowing all with P = P1[j,k]; M = M1[j,k]; B = B[k]; L = L[k]; n = n1[j,k]; r = s[j];
            U = R[j,k]
            from same knowing all with s = R[j,k]; t = s[j]*B[k]
            from less knowing all with P = P2[j]; F = H; M = M2[j]; B = P; G = F; L = M; f = g; n = n2[j];
            N = N + 1; r = s[j]; U = V[j]
            from more knowing all with P = P2[j]; F = H; M = M2[j]; B = P; G = F; L = M; f = g; n = n2[j];
            N = N + 1; r = s[j]; U = V[j]
            from same knowing all with s = V[j]; t = s[j]*P
            from stage knowing all
            from ends knowing all
            from gone knowing all
            from balance knowing all with S = z*P; T = sum[k](u[k]*U[k]); Y = sum[j](v[j]*o[j]*V[j]);
            W = sum[k](z*a[k]*B[k]) + sum[j,k](v[j]*q[j,k]*R[j,k])
            => I == O (as stated)
        And where the class has no jobs.
            law; law 3; rates 1; weight 3: n2[j]*M2[j] == s[j]*M; equal 3: V[j] == n2[j]*g*P2[j];
            traffic; begin; end; stages; out 1: O == z*P; back 1: I == sum[j](v[j]*o[j]*V[j])
            from less knowing all with P = P2[j]; F = H; M = M2[j]; B = P; G = F; L = M; f = g; n = n2[j];
            N = 1; r = s[j]; U = V[j]
            from more knowing all with P = P2[j]; F = H; M = M2[j]; B = P; G = F; L = M; f = g; n = n2[j];
            N = 1; r = s[j]; U = V[j]
            from same knowing all with s = V[j]; t = s[j]*P
            from ends knowing all
            from gone knowing all
            from balance knowing all with S = z*P; T = 0; Y = sum[j](v[j]*o[j]*V[j]); W = 0
            => I == O (as stated)
        [most] All stages together have no more tasks than the class,
            equal: N*U[k] == n[k]*f*P; jobs: sum[k](n[k]) == N; some: N > 0
            => sum[k](U[k]) <= f*P
            by some * not the conclusion; equal | 1; jobs | f*P
        [least] and no fewer.
            equal; jobs; some
            => sum[k](U[k]) >= f*P
            by some * not the conclusion; equal | 1; jobs | f*P
        [summed] Over all states i with as many jobs,
            tasks: sum[k](U[i,k]) == f*P[i]; share: U[i,k] == r[k]*B[i,k]; once: sum[i](B[i,k]) == Q;
            load: sum[k](r[k]) == h
            => f*sum[i](P[i]) == h*Q
            by tasks | 1; share | 1; once | r[k]
        it has the recursion of the law of exponential sizes, in which no stage stands.
            law: P[i] == c*F*M[i]; law 1: B[i,k] == c*G*L[i,k]; rates: f*F == G;
            weight: n[i,k]*M[i] == N*r[k]*L[i,k]; equal: N*U[i,k] == n[i,k]*f*P[i]; some;
            jobs: sum[k](n[i,k]) == N; once; load
            from less knowing all with P = P[i]; M = M[i]; B = B[i,k]; L = L[i,k]; n = n[i,k]; r = r[k];
            U = U[i,k]
            from more knowing all with P = P[i]; M = M[i]; B = B[i,k]; L = L[i,k]; n = n[i,k]; r = r[k];
            U = U[i,k]
            from same knowing all with s = U[i,k]; t = r[k]*B[i,k]
            from most knowing all with P = P[i]; U[k] = U[i,k]; n[k] = n[i,k]
            from least knowing all with P = P[i]; U[k] = U[i,k]; n[k] = n[i,k]
            from same knowing all with s = sum[k](U[i,k]); t = f*P[i]
            from summed knowing all
            => f*sum[i](P[i]) == h*Q (as stated)
    """


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

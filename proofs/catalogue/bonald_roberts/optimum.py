r"""Bonald and Roberts (2014), continued: how few jobs there can be on average, whatever the policy.

A function h of the jobs has no drift on average, in a stationary system. If for all tasks that can run the
drift of h and the jobs are at least g together, then g is a bound on the mean number of jobs; a policy with
which they are g in every state attains it.

Take :math:`h = \frac12 x^TMx` with :math:`M_{ik} = \sigma_i\sum_ja_{ij}Y_{jk}`, symmetric, and prices
:math:`y_j = \sum_kY_{jk}x_k \ge 0`: what an arrival of class i adds to h is :math:`\sigma_i\sum_ja_{ij}y_j +
M_{ii}/2`. As all that runs fits, at these prices it is worth at most all resources.

Sums are over the states, which are infinitely many; they converge if the mean number of jobs is finite, and
else there is nothing to show.

Hypotheses
    fits: in every state the tasks fit into the resources
    states: probabilities of the states, which add up to 1
    stationary: the mean drift of h is 0
"""

from __future__ import annotations

from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known=__doc__)


@STATEMENTS.add("br-price-bound", said=Said.READER)
def _price_bound(question: Question) -> None:
    r"""Under any policy the mean number of jobs is at least the sum over the classes of their load times
    what a task holds at the prices that belong to one job of the class.

    .. math:: \sigma_i(aY)_{ik} \text{ symmetric},\ Yx \ge 0,\ (C - \varrho)Y \le 1 \implies
        E\Bigl[\sum_ix_i\Bigr] \ge \sum_i\rho_i(aY)_{ii}

    Hypotheses
        fits*, states*, stationary*
        prices*: prices are what the jobs add to them
        signs: prices are not negative
        free*: at the prices of one job what is free of all resources is worth at most 1
        loads: resources have the loads of their classes
        rates: loads are arrival rates times mean sizes, and rates of the ends of jobs are one over these
        half: an arrival adds half of what a task holds at the prices of its own, times its mean size
        balance*: as many tasks run on average as the load brings
    Place: not in the slides, which ask for durations under several policies
    Scope: any numbers of classes and resources, all demands, capacities and loads, exponential sizes,
        policies that do not know them
    Reading: In a stationary system with a finite mean number of jobs h has no drift on average; if that mean
        is infinite there is nothing to show. That the products of mean sizes and demands at the prices are
        symmetric is in the drift that is written.

    Proof
        # r: loads of classes, l: arrival rates, u: rates of the ends of jobs, S: mean sizes; L: loads of
        # resources; k: half of what a task holds, times S; Y: prices of one job.
        [worth] What runs is worth at most all resources.
            fits: sum[i](f[i]*a[i,j]) <= c[j]; signs: p[j] >= 0; loads: L[j] == sum[i](r[i]*a[i,j])
            => sum[i]((r[i] - f[i])*sum[j](a[i,j]*p[j])) >= sum[j]((L[j] - c[j])*p[j])
            by fits * signs; loads | p[j]
        [free] What is free is worth at most the number of jobs.
            prices: p[j] == sum[i](Y[j,i]*x[i]); free: sum[j]((c[j] - L[j])*Y[j,i]) <= 1; signs 2: x[i] >= 0
            => sum[j]((c[j] - L[j])*p[j]) <= sum[i](x[i])
            by prices | c[j] - L[j]; free * signs 2
        [drift] So that the drift of h without what single events add to it is at least minus the jobs.
            worth: D >= G; free: -G <= N
            => D >= -N
        [half] Arrivals add this per class.
            half: 2*k[i] == S[i]*sum[j](a[i,j]*Y[j,i]); rates 1: l[i]*S[i] == r[i]
            => 2*sum[i](k[i]*l[i]) == sum[i](r[i]*sum[j](a[i,j]*Y[j,i]))
            by half | l[i]; rates 1 | sum[j](a[i,j]*Y[j,i])
        [events] Ends of jobs add as much on average as arrivals.
            states: sum[s](m[s]) == 1; balance: sum[s](m[s]*f[i,s]) == r[i]; rates 2: u[i]*r[i] == l[i]
            => sum[s](m[s]*sum[i](k[i]*(l[i] + u[i]*f[i,s]))) == 2*sum[i](k[i]*l[i])
            by balance | k[i]*u[i]; rates 2 | k[i]; states | sum[i](k[i]*l[i])
        [mean] The mean drift is 0, so that the jobs are at least that on average.
            states 1: m[s] >= 0; drift: D[s] >= -N[s]; stationary: sum[s](m[s]*(D[s] + E[s])) == 0;
            events: sum[s](m[s]*E[s]) == 2*K; half: 2*K == B
            => sum[s](m[s]*N[s]) >= B
            by states 1 * drift
        In all states, then.
            fits: sum[i](f[i,s]*a[i,j]) <= c[j]; states: sum[s](m[s]) == 1; states 1; prices: p[j,s] ==
            sum[i](Y[j,i]*x[i,s]); signs 1: p[j,s] >= 0; signs 2: x[i,s] >= 0;
            free: sum[j]((c[j] - L[j])*Y[j,i]) <= 1; loads: L[j] == sum[i](r[i]*a[i,j]);
            rates 1: l[i]*S[i] == r[i]; rates 2: u[i]*r[i] == l[i];
            half: 2*k[i] == S[i]*sum[j](a[i,j]*Y[j,i]); balance;
            stationary: sum[s](m[s]*(sum[i]((r[i] - f[i,s])*sum[j](a[i,j]*p[j,s]))
            + sum[i](k[i]*(l[i] + u[i]*f[i,s])))) == 0
            from worth knowing all with f[i] = f[i,s]; p[j] = p[j,s]
            from free knowing all with p[j] = p[j,s]; x[i] = x[i,s]
            from drift knowing all with D = sum[i]((r[i] - f[i,s])*sum[j](a[i,j]*p[j,s]));
            G = sum[j]((L[j] - c[j])*p[j,s]); N = sum[i](x[i,s])
            from half knowing all
            from events knowing all
            from mean knowing all with D[s] = sum[i]((r[i] - f[i,s])*sum[j](a[i,j]*p[j,s]));
            N[s] = sum[i](x[i,s]); E[s] = sum[i](k[i]*(l[i] + u[i]*f[i,s])); K = sum[i](k[i]*l[i]);
            B = sum[i](r[i]*sum[j](a[i,j]*Y[j,i]))
            => sum[s](m[s]*sum[i](x[i,s])) >= sum[i](r[i]*sum[j](a[i,j]*Y[j,i])) (as stated)
    """


@STATEMENTS.add("br-optimum-two", said=Said.READER)
def _optimum(question: Question) -> None:
    r"""With demands (1, e) and (e, 1) and the load r on both resources no policy has fewer jobs on average
    than 2r/((1 + e)(1 - r)); this many has any policy under which a resource is full while there are jobs of
    the class that demands more of it.

    .. math:: \min E[x + y] = \frac{2r}{(1 + e)(1 - r)}

    Hypotheses
        fits*, states*, stationary*
        loads*: both classes have the load l, both resources the load r = (1 + e) l
        signs*: counts of jobs are not negative
        full*: a resource is full while there are jobs of the class that demands more of it
    Place: not in the slides, which have e = 1/10 and compare policies
    Scope: all e, loads below 1, exponential sizes of mean 1, policies that do not know sizes
    Reading: With 0 <= e <= 1 there is such a policy: it runs 1/(1 + e) tasks of each class if both have jobs,
        and one task of a class that has jobs alone. The function is h = x(x + 1) + y(y + 1) + 2 e x y, whose
        drift is written here by its values before and after an event.
    Remark: How far proportional fairness is from it at every load is open. By the chain of the library it has
        1.015, 1.079, 1.120, 1.119, 1.057 times as many jobs at load .9 for e = .1, .3, .5, .7, .9, and 1.050,
        1.172, 1.261, 1.282, 1.159 times at .98; the product form of heavy traffic has 1 + e times as many in
        the limit.

    Proof
        # x, y: jobs of both classes; f, g: their tasks.
        Whatever fits.
            fits 1: f[s] + e*g[s] <= 1; fits 2: e*f[s] + g[s] <= 1; states 1: m[s] >= 0;
            states 2: sum[s](m[s]) == 1; loads: r == (1 + e)*l; signs 1: x[s] >= 0; signs 2: y[s] >= 0;
            stationary: sum[s](m[s]*(l*((x[s] + 1)*(x[s] + 2) - x[s]*(x[s] + 1) + 2*e*y[s])
            + l*((y[s] + 1)*(y[s] + 2) - y[s]*(y[s] + 1) + 2*e*x[s])
            + f[s]*((x[s] - 1)*x[s] - x[s]*(x[s] + 1) - 2*e*y[s])
            + g[s]*((y[s] - 1)*y[s] - y[s]*(y[s] + 1) - 2*e*x[s]))) == 0
            => (1 - r)*sum[s](m[s]*(x[s] + y[s])) >= 2*l (as stated)
            by states 1 * signs 1 * fits 1; states 1 * signs 2 * fits 2
            degree 2
        With full resources there are not more.
            full 1: x[s]*(1 - f[s] - e*g[s]) == 0; full 2: y[s]*(1 - e*f[s] - g[s]) == 0; states 2; loads;
            stationary
            => (1 - r)*sum[s](m[s]*(x[s] + y[s])) <= 2*l (as stated)
            by full 1 | m[s]; full 2 | m[s]
            degree 2
    """

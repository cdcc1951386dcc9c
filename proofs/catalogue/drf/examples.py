"""A. Ghodsi et al., "Dominant Resource Fairness", NSDI 2011: the example of 9 CPUs and 18 GB.

Tasks of A hold 1 CPU and 4 GB, tasks of B 3 CPUs and 1 GB, of 9 CPUs and 18 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.drf.table import SOURCE
from proofs.catalogue.examples import against, computed, model
from proofs.claims import Claim
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)

EXAMPLE = model([[1, 4], [3, 1]], [9, 18])


@STATEMENTS.add("drf-example")
def _example_program(question: Question) -> Iterator[Claim]:
    r"""Tasks (1 CPU, 4 GB) and (3 CPU, 1 GB) share 9 CPUs and 18 GB as (3, 2): the largest with equal
    dominant shares.

    .. math:: \max (x, y):\ x+3y\le 9,\ 4x+y\le 18,\ \tfrac{4x}{18} = \tfrac{3y}{9} \quad\Rightarrow\quad (3,
        2)

    Hypotheses
        cpu*: the CPUs suffice
        ram: the memory suffices
        equal*: dominant shares are equal
    Place: section 4.1, example of 9 CPUs and 18 GB
    Scope: all real x, y
    Remark: The memory does not bind: 14 of 18 GB are used.

    Proof
        Nobody can run more than (3, 2).
            cpu: x + 3*y <= 9; ram: 4*x + y <= 18; equal: 4/18*x == 3/9*y
            => x <= 3 (as stated)
        Nor can the second user.
            cpu; ram; equal
            => y <= 2 (as stated)
        Progressive filling gives (3, 2).
            Computed.
    """
    yield computed("drf_tasks", **EXAMPLE, gives=[3, 2])


@STATEMENTS.add("drf-dominant-resources-swapped", said=Said.DENIED)
def _swapped(_: Question) -> Iterator[Claim]:
    r"""The dominant resource of A (1 CPU, 4 GB of 9, 18) is the CPU, that of B (3, 1) the memory.

    .. math:: \arg\max_j a_{Aj}/c_j = \text{CPU}, \quad \arg\max_j a_{Bj}/c_j = \text{RAM}

    Place: section 4.1, the example as a summary of the paper retells it
    Scope: the example
    Remark: The paper says the opposite, that A's is the memory and B's the CPU; a summary of it exchanged
        them.

    Proof
        The largest share of A is in the memory, 4/18 > 1/9; that of B in the CPUs, 3/9 > 1/18.
            Computed.
    """
    case = model(EXAMPLE["demands"], EXAMPLE["capacities"], printed=[1, 2])
    yield against("dominant_resources_are", **case)


@STATEMENTS.add("drf-example-order")
def _order(question: Question) -> Iterator[Claim]:
    """In the example whole tasks start in the order B, A, A, B, A.

    .. math:: B, A, A, B, A

    Hypotheses
        ties to B*: B is served first among equals
    Place: section 4.2, progressive filling task by task
    Scope: the example
    Remark: The first pick is arbitrary; with ties to A the order is A, B, A, B, A.

    Proof
        Tasks start in the order B, A, A, B, A.
            Computed.
    """
    ties = [2, 1] if question.holds("ties to B") else [1, 2]
    yield computed("whole_task_order", **EXAMPLE, ties=ties, gives=[2, 1, 1, 2, 1])


@STATEMENTS.add("drf-weighted-example", said=Said.READER)
def _weighted(question: Question) -> Iterator[Claim]:
    r"""With weights 2 : 1 the example is shared as (54/13, 18/13).

    .. math:: \tfrac12\tfrac{4x}{18} = \tfrac{3y}{9} \Rightarrow (x, y) = (\tfrac{54}{13}, \tfrac{18}{13})

    Hypotheses
        weights*: shares are divided by the weights 2 and 1
    Place: section 4.3, weighted DRF
    Scope: the example
    Remark: The rule is the paper's, the weights 2 : 1 of the example are ours.

    Proof
        Filling shares divided by the weights gives (54/13, 18/13).
            Computed.
        Shares over weights are equal and the memory is full.
            weights: 4/18*x == 2*3/9*y; full: 4*x + y == 18
            => x == 54/13
    """
    weights = [2, 1] if question.holds("weights") else [1, 1]
    yield computed("drf_tasks", **EXAMPLE, weights=weights, gives=["54/13", "18/13"])


@STATEMENTS.add("drf-example-asset")
def _asset_example(question: Question) -> Iterator[Claim]:
    r"""Asset fairness shares the example as (63/25, 54/25).

    .. math:: 6x = 7y \Rightarrow (x, y) = (\tfrac{63}{25}, \tfrac{54}{25})

    Hypotheses
        bills*: both pay the same, with a CPU at the price of two GB
    Place: section 5.1, asset fairness
    Scope: the example

    Proof
        A CPU costs as much as two GB; equal bills allow 63/25 tasks of A.
            bills: 6*x == 7*y; cpu: x + 3*y <= 9; ram: 4*x + y <= 18
            => x <= 63/25
        The definition gives (63/25, 54/25).
            Computed.
    """
    yield computed("asset_tasks", **EXAMPLE, gives=["63/25", "54/25"])


@STATEMENTS.add("drf-example-ceei")
def _ceei_example(question: Question) -> Iterator[Claim]:
    r"""CEEI shares the example as (45/11, 18/11).

    .. math:: \max xy \Rightarrow (x, y) = (\tfrac{45}{11}, \tfrac{18}{11})

    Hypotheses
        clearing cpu*: the CPUs are sold out
        clearing ram*: the memory is sold out
    Place: section 5.2, competitive equilibrium from equal incomes
    Scope: the example

    Proof
        Both resources are sold out at (45/11, 18/11).
            clearing cpu: x + 3*y == 9; clearing ram: 4*x + y == 18
            => x == 45/11
        At prices 1/5 and 1/90 incomes of 1 buy that.
            Computed.
    """
    arguments = EXAMPLE | {"prices": ["1/5", "1/90"]}
    yield computed("ceei_tasks", **arguments, gives=["45/11", "18/11"])

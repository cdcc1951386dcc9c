r"""PS-DSF, Figure 6: CPU that PS-DSF and TSF use on class D while user 4 is away, in the demand that is lost.

Table IV does not give the CPU demand c of a task of user 2. Any c up to 2/15 fits it, as memory then stops
user 2 wherever it is alone. Let user 2 run t tasks in all, user 1 then 2t and user 3 2t/3:

==== ======== ========= ======== ==============
.    A        B         C        D
==== ======== ========= ======== ==============
1    80       2t - 80
2             210 - t            2t - 210
3                       165/2    2t/3 - 165/2
==== ======== ========= ======== ==============

Levels are equal among those who are served on a class and no lower for the others; the memory of A, B and C
is full. So this is PS-DSF where class D has a full resource: its memory, with t = 1755/14, while its CPU
suffices for that, which is c <= 37/285; beyond, its CPU, with t = (22 + 210c)/(2c + 2/15). TSF does not
depend on c.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import every
from proofs.catalogue.psdsf.theorems import SOURCE
from proofs.claims import Claim
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add("psdsf-greater-cpu-use", said=Said.READER)
def _use(question: Question) -> Iterator[Claim]:
    r"""While user 4 is away, PS-DSF uses less CPU of class D than TSF if a task of user 2 demands less than
    37/285 CPU, and as much, all of it, if it demands from 37/285 to 2/15.

    .. math:: u_D^{\mathrm{PS\text{-}DSF}} = \min\Bigl(1, \frac{285c + 3/2}{77/2}\Bigr),\quad
        u_D^{\mathrm{TSF}} = 1 \quad (0 < c \le \tfrac2{15})

    Hypotheses
        possible*: a task of user 2 demands at most 2/15 CPU, so that Table IV is right
        below*: it demands less than 37/285
        not below*: it demands at least 37/285
    Place: section V, Figure 6; the dependence on the demand is not in the paper
    Scope: all CPU demands c of user 2 with 0 < c <= 2/15; that of user 4 does not matter
    Remark: The paper says of Figure 6 that PS-DSF uses no less CPU on the classes C and D. Its demand c is
        lost, so the paper's sentence is neither proved nor refuted: it holds from 37/285 (0.130) on and fails
        below, at 1/10 with 60/77 against 1. While all users are active it holds (psdsf-table-4).

    Proof
        # What both pieces share: t between 495/4 and 1755/14.
        The 40 tasks of user 2 that the memory of class A holds fit into its CPU, so memory stops
        user 2.
            possible: 15*c <= 2; some: c > 0
            => 40*c <= 8
        The 170 tasks of user 2 that the memory of class B holds fit into its CPU, so memory stops
        user 2.
            possible; some
            => 170*c <= 34
        The 165/4 tasks of user 2 that the memory of class C holds fit into its CPU, so memory stops
        user 2.
            possible; some
            => 165/4*c <= 33/2
        The 165/4 tasks of user 2 that the memory of class D holds fit into its CPU, so memory stops
        user 2.
            possible; some
            => 165/4*c <= 11/2
        No tasks are negative.
            1 on B: b1 == 2*t - 80; 2 on B: b2 == 210 - t; 2 on D: d2 == 2*t - 210;
            3 on D: 3*d3 == 2*t - 495/2; from: 4*t >= 495; to: 14*t <= 1755
            => b1 >= 0
        No tasks are negative.
            1 on B; 2 on B; 2 on D; 3 on D; from; to
            => b2 >= 0
        No tasks are negative.
            1 on B; 2 on B; 2 on D; 3 on D; from; to
            => d2 >= 0
        No tasks are negative.
            1 on B; 2 on B; 2 on D; 3 on D; from; to
            => d3 >= 0
        The memory of class B is full,
            1 on B; 2 on B; 2 on D; 3 on D
            => b1/10 + b2/5 == 34
        and its CPU suffices.
            1 on B; 2 on B; 2 on D; 3 on D; from; to; possible; some; not negative: b2 >= 0
            => b1/10 + c*b2 <= 34
            by possible * not negative
        The memory of class D suffices.
            1 on B; 2 on B; 2 on D; 3 on D; from; to
            => d2/5 + d3/10 <= 33/4
        Users 1 and 2 have the same level on class A
            1 on B; 2 on B; 2 on D; 3 on D; total 1: x1 == 80 + b1; total 2: x2 == b2 + d2;
            total 3: x3 == 165/2 + d3; from
            => x1/80 == x2/40
        and on class B.
            1 on B; 2 on B; 2 on D; 3 on D; total 1; total 2; total 3; from
            => x1/340 == x2/170
        User 3 has no higher level on class C than user 1
            1 on B; 2 on B; 2 on D; 3 on D; total 1; total 2; total 3; from
            => 2/165*x3 <= 2/165*x1
        or user 2.
            1 on B; 2 on B; 2 on D; 3 on D; total 1; total 2; total 3; from
            => 2/165*x3 <= 4/165*x2
        Users 2 and 3 have the same level on class D,
            1 on B; 2 on B; 2 on D; 3 on D; total 1; total 2; total 3; from
            => 4/165*x2 == 2/55*x3
        and user 1 no lower one.
            1 on B; 2 on B; 2 on D; 3 on D; total 1; total 2; total 3; from
            => 4/165*x2 <= x1/55
        With t = 1755/14 the memory of class D is full,
            1 on B; 2 on B; 2 on D; 3 on D; memory: 14*t == 1755
            => d2/5 + d3/10 == 33/4
        and for c < 37/285 not all of its CPU is in use,
            1 on B; 2 on B; 2 on D; 3 on D; memory; below: 285*c < 37
            => c*d2 + d3/5 < 11/2
        but the part (285c + 3/2)/(77/2).
            1 on B; 2 on B; 2 on D; 3 on D; memory
            => 77/2*(c*d2 + d3/5) == 11/2*(285*c + 3/2)
        With t = (22 + 210c)/(2c + 2/15) its CPU is full;
            1 on B; 2 on B; 2 on D; 3 on D; cpu: t*(2*c + 2/15) == 22 + 210*c; some: c > 0
            => c*d2 + d3/5 == 11/2
        this t is at most 1755/14 for c >= 37/285,
            cpu; some; not below: 285*c >= 37
            => 14*t <= 1755
        and at least 495/4 for c <= 2/15.
            cpu; some; possible
            => 4*t >= 495
        TSF: with the price q = 2 + 1/(5c) of the CPU of classes C and D, and 1 of the memory of A and B, a
        task of user 2 is no cheaper on C and D,
            price: 5*q*c == 1 + 10*c; some
            => q*c >= 1/5
        nor one of user 1,
            price; some
            => q/10 >= 1/10
        and what all hold costs what there is, so this is TSF whatever c:
            user 1: 10*m1 == 93660/457; user 2: 5*m2 == 49140/457; user 3: 5*m3 == 110*q
            => m1 + m2 + m3 == 42 + 22*q
        the CPU of class B suffices for it,
            possible
            => 93660/4570 + 30860/457*c <= 34
        and user 3 uses all CPU of classes C and D.
            tasks: z3 == 110
            => z3/5 == 22
        By the definitions: PS-DSF by the conditions of Theorem 1, TSF by its prices, and the CPU in use, for
        c = k/570 up to 2/15.
            Computed.
    """
    yield every("cpu_use_of_class_d", denominator=570, threshold="37/285", largest="2/15")

"""Asking whether a statement holds, and the table of all of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from proofs.catalogue import statement_named
from proofs.checking.verdicts import statement_data
from proofs.errors import ProofError
from proofs.statement import Statement
from proofs.verdict import CATALOGUE, Verdict, kind_of, overall

__all__ = ["check"]


def check(
    statement: str | Statement,
    *,
    drop: Sequence[str] = (),
    reverse: Sequence[str] = (),
    replace: Mapping[str, str] | None = None,
    deep: bool = False,
    time_limit: float = 60.0,
    **sizes: int,
) -> Verdict:
    """Whether a statement holds, with evidence.

    Parameters
    ----------
    statement : str or Statement
        Id of a statement of the catalogue (:func:`proofs.statements`), or one of your own.
    drop, reverse : sequence of str
        Hypotheses, by name, to leave out or to turn round.
    replace : dict of str to str, optional
        Hypotheses to give another relation, such as ``{"demand": "a >= 0"}``.
    deep : bool
        Take the larger sizes.
    time_limit : float, seconds
        For the whole statement; what is not settled by then is UNKNOWN. It is looked at between the cases of
        a step: a single computation is not interrupted.
    **sizes : int
        Sizes of the statement, such as ``n=3``.

    Returns
    -------
    Verdict

    Raises
    ------
    ProofError
        If the id, a size or a hypothesis is unknown, a size is out of scope, or the time limit is not
        positive.

    Examples
    --------
    >>> check("br-feasible").status
    <Status.PROVED: 'PROVED'>
    >>> check("br-feasible", drop=["capacity"]).status
    <Status.REFUTED: 'REFUTED'>

    A lemma that fails is no witness against the statement:

    >>> check("drf-table-drf-sp", drop=["demand"]).reason
    'this proof breaks at step 2, against which there is a witness'
    """
    if not time_limit > 0:
        raise ProofError(f"time_limit is a number of seconds > 0; got {time_limit!r}")
    from proofs.prover import settle

    asked = statement_named(statement) if isinstance(statement, str) else statement
    question = asked.question(sizes, drop, reverse, replace, deep)
    begin = time.monotonic()
    data = statement_data(asked)
    unread = "own" if data["origin"] != CATALOGUE else "changed" if question.changed else ""
    findings = []
    for step in asked.ask(question):
        left = max(0.0, time_limit - (time.monotonic() - begin))
        findings.append(settle(step, left, unread))
    return Verdict(
        id=asked.id,
        status=overall(findings),
        kind=kind_of(findings, question.sizes),
        scope=asked.scope_of(question),
        statement=data,
        sizes=dict(question.sizes),
        dropped=tuple(drop),
        reversed=tuple(reverse),
        replaced=dict(replace or {}),
        findings=tuple(findings),
        seconds=time.monotonic() - begin,
    )

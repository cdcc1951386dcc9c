"""Whether a proof ends in its statement, so that nothing between its steps is left to the reader.

It does if its last step states it: the relations that the step assumes are the hypotheses of the statement,
by their names, all of them and no others; and every step before is cited by it, by what it cites, and so on.
Where a statement has several parts, as "if and only if" has two, steps may state one each, and count
together. What is computed or enumerated stands beside a proof: nothing can cite it.
"""

from __future__ import annotations

from proofs.claims import REASONED, Chained, InWords, Step
from proofs.language.rules import is_rule
from proofs.language.sums import plain_relation
from proofs.statement import Statement

__all__ = ["shortfall"]


def shortfall(statement: Statement) -> str:
    """What the steps lack to end in the statement; "" if they do.

    Parameters
    ----------
    statement : Statement

    Returns
    -------
    str

    Examples
    --------
    >>> from proofs.catalogue import statement_named
    >>> shortfall(statement_named("br-bmf-unique-two"))
    ''
    >>> shortfall(statement_named("br-examples"))
    'all of its steps are computed'
    """
    question = statement.question()
    steps = [step for step in statement.written(question) if isinstance(step.claim, (*REASONED, InWords))]
    if not steps:
        return "all of its steps are computed"
    if isinstance(steps[-1].claim, InWords):
        return f'its last step is in words: "{steps[-1].says}"'
    if not steps[-1].states:
        return f'its last step does not state it: "{steps[-1].says}"'
    parts = [step for step in steps if step.states and isinstance(step.claim, REASONED)]
    claims = [step.claim for step in parts if isinstance(step.claim, REASONED)]
    told = [item for claim in claims for item in claim.assumed.items()]
    if more := [text for name, text in told if name.startswith("sign of ") and not _is_sign(text)]:
        return f"what states it assumes {more[0]!r}, which is more than a sign and has no name"
    assumed = {question.family(name) for name, _ in told}
    if missing := [name for name in statement.hypotheses if name not in assumed]:
        return f"what states it does not assume {missing[0]!r} as a relation"
    if other := sorted(assumed - set(statement.hypotheses)):
        return f"what states it assumes {other[0]!r}, which is none of its hypotheses"
    used = _reached(steps, parts)
    for step in steps:
        if step not in used:
            return f'nothing that states it cites the step "{step.says}"'
    return ""


def _is_sign(text: str) -> bool:
    """Whether a relation says of one variable that it is not negative, and nothing more."""
    if "sum[" in text or is_rule(text):
        return False
    r = plain_relation(text)
    return r.sign == ">=" and list(r.left.terms.values()) == [1] and r.left.degree == 1


def _reached(steps: list[Step], parts: list[Step]) -> list[Step]:
    """The steps that state a statement, those that they cite, and so on."""
    found, pending = list[Step](), [*parts]
    while pending:
        step = pending.pop()
        found.append(step)
        if isinstance(step.claim, Chained):
            claims = [cited.claim for cited in step.claim.cites]
            pending += [other for other in steps if other.claim in claims and other not in found]
    return found

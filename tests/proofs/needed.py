"""Whether a hypothesis is needed: without it a witness contradicts the statement, or a step of its proof."""

from proofs import Status


def has_witness(verdict):
    """Whether a statement without one of its hypotheses is refuted, or its proof is broken by a witness."""
    assert verdict.status in (Status.REFUTED, Status.UNKNOWN), verdict
    return verdict.status == Status.REFUTED or verdict.broken is not None

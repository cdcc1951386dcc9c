"""Whether a hypothesis is needed: without it a witness contradicts the statement, or a step of its proof."""

from proofs import Status

CONTRADICTED = {
    "br-balanced-fits": {"largest"},
    "br-bmf-path": {"cap"},
    "br-feasible": {"capacity", "scaling"},
    "br-pf-irrational": {"root"},
    "dcdrf-epsilon-zero": {"zero"},
    "dcdrf-gain": {"allocated", "fits"},
    "dcdrf-lemma-3-1": {"frozen"},
    "dcdrf-lemma-3-2": {"one per tenant"},
    "dcdrf-rounds": {"equal"},
    "drf-example": {"cpu", "equal"},
    "drf-filling": {"demand"},
    "drf-table-asset-ef": {"covers", "level other"},
    "drf-table-asset-single": {"full", "level"},
    "drf-table-drf-bottleneck": {"feasible", "full"},
    "drf-table-drf-ef": {"covers", "level other"},
    "drf-table-drf-single": {"full", "level"},
    "drf-whole-tasks-gap": {"poorest"},
    "edrf-bundles-ef1-impossible": {"efficient", "fair"},
    "edrf-bundles-si-impossible": {"efficient", "fair"},
    "edrf-minmax-envy": {"served before"},
    "edrf-minmax-random": {"share after"},
    "edrf-minmax-sharing-incentive": {"served before"},
    "edrf-one-round": {"positive"},
    "psdsf-single-server": {"weights"},
    "psdsf-time-implies-resource": {"alone", "part", "time"},
    "tdrf-optimum-4-1": {"four", "levels", "one"},
    "tdrf-whole-tasks": {"ties to A"},
}
"""Hypotheses without which a witness contradicts the statement itself."""


def shows_the_need(verdict, *, another_value=False):
    """Whether a statement without one hypothesis fares as it should.

    A few are refuted, as the table above says; of all others a witness breaks the proof, or, where
    ``another_value`` says so, a value is not the stated one, which contradicts nothing in general.
    """
    (name,) = verdict.dropped
    refuted = name in CONTRADICTED.get(verdict.id, ())
    wanted = Status.REFUTED if refuted else Status.UNKNOWN
    return verdict.status == wanted and (refuted or (verdict.broken is None) == another_value)

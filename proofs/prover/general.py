"""Sums of any length, chains and inductions: certificates by the same linear programs as for implications."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

from proofs.checking.general import LARGEST, SUMMED, check_chain, check_sums, with_sums
from proofs.checking.refutations import premises, premises_used
from proofs.claims import Chained, Implication, Induction, StateInduction, SumSchema
from proofs.definitions import plain
from proofs.errors import EvidenceError
from proofs.language.relations import relation
from proofs.language.sums import free_letters, indices_in, letters, members, plain_text
from proofs.prover.combinations import find_refutation
from proofs.prover.implications import (
    UNMET,
    Evidence,
    certified,
    lucky_witness,
    meeting,
    opened,
    witness_of,
)
from proofs.verdicts.verdict import NEVER

__all__ = ["chain_evidence", "induction_evidence", "states_evidence", "sums_evidence"]

SIZES = (1, 2)
"""Of the sets in which witnesses are looked for; of larger ones, only values that meet the hypotheses."""


def sums_evidence(claim: SumSchema, deadline: float) -> Evidence:
    """Evidence before a deadline of the monotonic clock."""
    if (answer := _instance(claim, lucky_witness)) is not None:
        return answer
    for degree in range(1, claim.degree + 1):
        for sums in _candidates(claim):
            known = Implication(
                with_sums(claim.plain, sums).hypotheses, claim.plain.conclusion, _closed_hints(claim)
            )
            found = find_refutation(known, degree, deadline)
            if found is not None:
                used = premises_used(found)
                evidence = found | {"kind": "sums", "sums": {n: d for n, d in sums.items() if n in used}}
                check_sums(claim, plain(evidence))
                return _with_values(claim, evidence, deadline)
            if time.monotonic() > deadline:
                return opened("degree", degree=degree)
    return _instance(claim, partial(witness_of, deadline=deadline)) or opened("sums", degree=claim.degree)


def chain_evidence(claim: Chained, deadline: float) -> Evidence:
    """Evidence before a deadline of the monotonic clock."""
    if claim.first is not None:
        try:
            check_chain(claim, {})
        except EvidenceError as error:
            return _against_runs(claim, deadline) or opened("chain", about=str(error))
        for size in SIZES:
            found = _at_numbers(claim.windows_of(size), {"kind": "chained", "size": size}, deadline)
            if found["kind"] == "chained":
                break
        return found
    if (answer := _instance(claim, lucky_witness)) is not None:
        return answer
    try:
        check_chain(claim, {})
    except EvidenceError as error:
        refuted = _instance(claim, partial(witness_of, deadline=deadline))
        return refuted or opened("chain", about=str(error))
    return _with_values(claim, {"kind": "chained"}, deadline)


def induction_evidence(claim: Induction, deadline: float) -> Evidence:
    """Evidence before a deadline of the monotonic clock."""
    if (refuted := _against_runs(claim, deadline)) is not None:
        return refuted
    parts = {}
    for part, implication in (("base", claim.base), ("step", claim.step)):
        parts[part] = certified(implication, deadline)
        if parts[part]["kind"] != "refutation":
            return opened("induction", part=part)
    return _at_numbers(claim.windows, {"kind": "induction", **parts}, deadline)


def _against_runs(claim: Induction | Chained, deadline: float) -> Evidence | None:
    """The answer that a run of a few steps refutes the claim, if runs have a last number and one does."""
    if not claim.last:
        return None
    (run,) = (claim.windows if isinstance(claim, Induction) else claim.windows_of(1)).values()
    values = lucky_witness(run) or witness_of(run, deadline)
    return None if values is None else {"kind": "instance", "size": 1, "values": values}


def _at_numbers(windows: dict[int, Implication], evidence: dict[str, Any], deadline: float) -> Evidence:
    """The evidence with values that meet the hypotheses at several numbers in a row."""
    met = []
    for number, window in windows.items():
        met.append(meeting(window, deadline))
        if met[-1] in (NEVER, UNMET):
            return opened("numbers", number=number, met=met[-1])
    return evidence | {"met": met}


def states_evidence(claim: StateInduction, deadline: float) -> Evidence:
    """Evidence before a deadline of the monotonic clock."""
    if (answer := _along(claim, lucky_witness)) is not None:
        return answer
    base = certified(claim.base, deadline)
    if base["kind"] != "refutation":
        return _along(claim, partial(witness_of, deadline=deadline)) or opened("induction", part="base")
    parts = {"base": {name: base[name] for name in ("terms", "cofactors")}}
    for part, schema in (("step", claim.step), ("end", claim.end)):
        found = sums_evidence(schema, deadline)
        if found["kind"] != "sums":
            return _along(claim, partial(witness_of, deadline=deadline)) or opened("induction", part=part)
        parts[part] = {name: found[name] for name in SUMMED}
    path = meeting(claim.path, deadline)
    if type(path) is not dict or type(found["met"]) is not dict:
        return opened("states")
    return {"kind": "states", **parts, "met": found["met"], "size": found["size"], "path": path}


def _along(claim: StateInduction, witness: Callable[[Implication], Any]) -> Evidence | None:
    """The answer that a few states refute the claim, if there is a witness against it there."""
    for jobs in SIZES:
        if (values := witness(claim.along(jobs))) is not None:
            return {"kind": "along", "jobs": jobs, "values": values}
    return None


def _instance(claim: SumSchema | Chained, witness: Callable[[Implication], Any]) -> Evidence | None:
    """The answer that small sets refute the claim, if there is a witness against it there."""
    for size in SIZES:
        if (values := witness(claim.instance(size))) is not None:
            return {"kind": "instance", "size": size, "values": values}
    return None


def _with_values(claim: SumSchema | Chained, evidence: dict[str, Any], deadline: float) -> Evidence:
    """The evidence with values that meet all hypotheses, of the smallest sets for which there are any."""
    if relation(claim.plain.conclusion).impossible:
        return evidence | {"met": {}, "size": 1}
    for size in range(1, LARGEST + 1):
        met = meeting(claim.instance(size), deadline)
        if met not in (NEVER, UNMET):
            return evidence | {"met": met, "size": size}
        if size >= max(SIZES) and (met == UNMET or time.monotonic() > deadline):
            break
    return opened("sizes", most=size)


Sums = dict[str, dict[str, Any]]


def _candidates(claim: SumSchema) -> Iterator[Sums]:
    """Sums that may be of use: those hinted at and of single hypotheses, then all products of two as well."""
    known = premises(claim.plain)
    free = {name: indices_in(r) for name, r in known.items()}
    sums: Sums = {}

    def add(names: Sequence[str], text: str = "1") -> None:
        told = f"sum of {' times '.join([*names, *([] if text == '1' else [text])])}"
        if names and known[names[0]].sign == "==":
            sums[told] = {"equation": names[0], "cofactor": text}
        else:
            sums[told] = {"factors": list(names), "square": text}

    families = [name for name in known if free[name]]
    for name in families:
        add([name])
    for names, text in claim.hints:
        if set(names) <= set(known) and (free_letters(text) or any(free[name] for name in names)):
            add(names, text)
    yield dict(sums)
    before = len(sums)
    positive = [name for name in families if known[name].sign != "=="]
    for one, other in combinations_with_replacement(positive, 2):
        if free[one] & free[other]:
            add([one, other])
    texts = [*claim.hypotheses.values(), claim.conclusion]
    for member in sorted(set().union(*map(members, texts))):
        indices = letters(member)
        for name in families:
            if known[name].sign == "==" and (indices <= free[name] or free[name] <= indices):
                add([name], member)
    if len(sums) > before:
        yield sums


def _closed_hints(claim: SumSchema) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Hints at products that are not summed."""
    known = premises(claim.plain)
    return tuple(
        (names, plain_text(square))
        for names, square in claim.hints
        if all(name in known and not indices_in(known[name]) for name in names)
        and not free_letters(square)
        and not (names and known[names[0]].sign == "==")
    )

"""The whole catalogue: verdicts, evidence that another process accepts and that cannot be bent, and mutants.

A statement of a paper stands in the catalogue, once; what each one has to fulfil is asked here of all.
"""

import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from examples.statements import reproduced
from proofs import EvidenceError, ProofError, Status, Verdict, check, statements
from proofs.__main__ import main
from proofs.catalogue import PAPERS, statements_of
from proofs.catalogue.drf import table
from proofs.checking import verify_finding
from proofs.endings import shortfall
from proofs.kernels import source_files
from proofs.kernels.coq_chains import chains_in
from proofs.kernels.theorems import alone_in
from proofs.language.relations import relation
from proofs.prover import implications, remember
from proofs.statement import Said
from proofs.verdicts.verdict import Kind
from tests.processes import PATIENCE
from tests.proofs.checking.tampering import changed, numbers_in
from tests.proofs.kernels.theorems import CERTIFICATES, adds_up, compiled, terms_of

STATEMENTS = {s.id: s for s in statements()}

STRANGER = """
import json, sys
from proofs import Verdict, verify
verdicts = [Verdict.from_json(text) for text in json.load(sys.stdin)]
for verdict in verdicts:
    verify(verdict)
strange = ("fairness", "queueing", "capacity", "numpy", "scipy", "sympy", "joblib")
bad = [m for m in sys.modules if m.split(".")[0] in strange or m.startswith("proofs.prover")]
if bad:
    sys.exit(f"imported: {bad}")
print(len(verdicts))
"""

LARGEST = 200_000
"""Numerators and denominators of witnesses are smaller: a reader can check them on paper."""
COMPUTED = 10_000_000
"""Those of what is computed from a witness, such as a product of tasks."""


@cache
def known():
    """The answers that ``make reproduce`` found in the same sources; nobody looks for them again."""
    found = {verdict.id: verdict for verdict in reproduced()}
    for name, verdict in found.items():
        steps = STATEMENTS[name].ask(STATEMENTS[name].question(verdict.sizes))
        for step, finding in zip(steps, verdict.findings, strict=True):
            remember(step, finding)
    return found


@cache
def verdict_of(name):
    """The answer to a statement, with the usual sizes; its hints spare it the search for sums of squares."""
    if name in known():
        return known()[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implications, "find_squares", lambda *given: pytest.fail("sums of squares are sought"))
        return check(name, time_limit=600.0)


@pytest.fixture
def verdicts():
    """The answer to every statement."""
    return {name: verdict_of(name) for name in STATEMENTS}


REFUTED = {
    *("br-mmf-scale-invariant", "br-pf-strategy-proof", "br-bmf-strategy-proof", "br-pf-is-bmf"),
    *("br-bmf-not-by-pf", "br-pf-below-balanced", "br-complaint-free-is-bmf"),
    *("psdsf-lemma-1", "psdsf-all-drf-properties", "psdsf-resource-pareto", "psdsf-definition-5-for-totals"),
    *("psdsf-resource-unique", "psdsf-resource-strategy-proof", "psdsf-time-slots-strategy-proof"),
    *("psdsf-c-drfh-bottleneck-fair", "psdsf-tsf-bottleneck-fair", "psdsf-tsf-sharing-incentive"),
    *(
        "psdsf-c-drfh-sharing-incentive",
        "psdsf-drfh-sharing-incentive",
        "psdsf-eligible-shares-strategy-proof",
    ),
    *("psdsf-cpu-full-under-any-mechanism", "psdsf-memory-full", "psdsf-fluid-stability"),
    *("drf-dominant-resources-swapped", "drf-machines-within-one-task", "drf-table-asset-si"),
    *("drf-table-asset-bottleneck", "drf-table-asset-resource", "drf-table-ceei-sp"),
    *("drf-table-ceei-population", "drf-table-ceei-resource", "drf-table-drf-resource"),
    *("edrf-minmax-envy-other", "edrf-lowest-share-incentive", "edrf-strategyproof-helper"),
    *("dcdrf-tenant-loss", "dcdrf-lemma-3-1-printed", "dcdrf-lemma-3-1-updated"),
    *("dcdrf-lemma-3-2-per-demand", "dcdrf-lie"),
}
SUPPORTED = {
    *("br-heavy-traffic", "br-bmf-stable", "edrf-minmax-random"),
    *("psdsf-lemma-1-hidden-servers", "psdsf-lemma-1-demands"),
}
TDRF = {
    *("exchange-section-2-2", "exchange-t1", "exchange-harmless", "optimum", "optimum-4-1", "end-cancels"),
    *("whole-tasks", "drf-is-strategy-proof", "exchange-is-not-linear", "strategy-proof-in-demands"),
}
"""What holds of the paper on TDRF; the rest of it is refuted."""


def expected(name):
    if name.startswith("tdrf-"):
        return Status.PROVED if name.removeprefix("tdrf-") in TDRF else Status.REFUTED
    return Status.REFUTED if name in REFUTED else Status.SUPPORTED if name in SUPPORTED else Status.PROVED


@pytest.mark.long
@pytest.mark.parametrize("name", STATEMENTS)
def test_verdicts(name):
    verdict = verdict_of(name)
    assert verdict.status == expected(name)
    # Every certificate can be checked on paper.
    assert not [f for f in verdict.findings if f.evidence.get("kind") == "unsat"]
    assert verdict.status != Status.UNKNOWN or verdict.reason
    assert all(f.reason for f in verdict.findings if f.status == Status.UNKNOWN)


def test_what_the_catalogue_has_to_tell():
    assert len(STATEMENTS) == 204
    assert all(s.mutants for s in STATEMENTS.values() if expected(s.id) == Status.PROVED)
    assert all(s.remark for s in statements_of("TDRF") if expected(s.id) == Status.REFUTED)


def test_the_table_of_the_drf_paper_has_24_cells():
    rows = [s.id.split("-")[2:] for s in table.STATEMENTS]
    assert [policy for policy, _ in rows] == ["asset", "ceei", "drf"] * 8
    assert all(rows[k][1] == rows[k - k % 3][1] for k in range(24))


CONTRADICTION = re.compile(r"contradiction|cannot|nowhere|impossible")
"""Words by which a step says that its case does not occur."""


@pytest.mark.long
def test_no_implication_is_true_for_want_of_a_case(verdicts):
    # The checker has seen the values that meet all hypotheses; at these the conclusion is then true as well.
    for name, verdict in verdicts.items():
        for number, finding in enumerate(verdict.findings, 1):
            if "met" in finding.evidence and not finding.evidence["met"]:
                told = f"{name}, step {number}: {finding.says}"
                free = not finding.claim["hypotheses"]
                assert free or relation(finding.claim["conclusion"]).impossible, told
                assert free or CONTRADICTION.search(finding.says), told


@pytest.mark.long
def test_existence_rests_on_a_fixed_point_of_the_levels():
    # What is said in words is Brouwer's theorem for the map; nothing on linear systems that have one
    # solution,
    # or on paths.
    verdict = verdict_of("br-bmf-exists")
    assert not verdict.in_words
    assert "by Brouwer's theorem, which is quoted" in verdict.statement["reading"]
    assert not any(f.claim.get("function", "").startswith("bmf_path") for f in verdict.findings)


def test_the_demand_that_a_table_does_not_give_is_a_parameter():
    # So the paper's claim is neither proved nor refuted.
    assert "0 < c <= 2/15" in STATEMENTS["psdsf-greater-cpu-use"].scope


@pytest.mark.long
def test_a_process_without_the_prover_accepts_the_evidence(verdicts):
    assert all(Verdict.from_json(v.to_json()) == v for v in verdicts.values())
    # All is checked where it is found; here one statement of a paper for each kind of claim and evidence.
    first = {}
    for v in verdicts.values():
        for f in v.findings:
            first.setdefault((v.statement["source"], f.claim["claim"], f.evidence.get("kind")), v)
    chosen = {v.id: v.to_json() for v in first.values()}
    texts = json.dumps([*chosen.values()])
    done = subprocess.run(
        [sys.executable, "-c", STRANGER], input=texts, text=True, capture_output=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(chosen) > 20


@pytest.mark.long
def test_kernels_see_nearly_all_certificates(verdicts):
    """All polynomial certificates, and all chains but those about sequences."""
    seen, told = Counter(), Counter()
    for verdict in verdicts.values():
        alone = alone_in(verdict.findings)
        there = {*alone, *chains_in(verdict.findings, alone)}
        for k, finding in enumerate(verdict.findings):
            kind = finding.evidence.get("kind")
            if kind in ("refutation", "sums", "induction", "states", "chained"):
                told[kind] += 1
                seen[kind] += k in there
    assert {kind for kind in told if seen[kind] < told[kind]} == {"states", "chained"}
    assert seen.total() >= 0.98 * told.total()
    readme = Path(__file__).parents[3].joinpath("README.md").read_text(encoding="utf-8")
    assert f"{seen['chained']} of the {told['chained']} chains" in " ".join(readme.split())


@pytest.mark.long
def test_coq_accepts_every_certificate(verdicts, tmp_path):
    findings = [f for v in verdicts.values() for f in v.findings if f.claim["claim"] in CERTIFICATES]
    assert all(finding.status == Status.PROVED for finding in findings)
    theorems = sum(CERTIFICATES[finding.claim["claim"]] for finding in findings)
    assert theorems > 300
    texts = source_files([*verdicts.values()])
    found = [terms_of(text) for text in texts.values()]
    assert sum(map(len, found)) == theorems
    assert all(adds_up(terms) for of_one in found for terms in of_one.values())
    if shutil.which("coqc") is None:
        pytest.skip("the terms add up; no coqc here that would check the theorems: apt-get install coq")
    for name, text in texts.items():
        assert compiled(tmp_path, name.removesuffix(".v"), text) is None, name


# Who says so.


OWN = re.compile(
    r"not (in|claimed|said|what)\b|not (one )?of the paper|not the paper's|(?:of|are) (ours|our own)"
    r"|reading|(does|do) not (claim|ascribe)|our reconstruction|guess|, read (so|as)|Lemma 3.1 read without"
    r"|names no|read off|without the assumption \(46\)",
    re.IGNORECASE,
)
"""Words by which a place or a remark says that a statement is not one of the source."""
SAYS_OTHERWISE = re.compile(
    r"[Oo]ur reading|A reading only|says? so itself|Not what the paper|does not claim|do not claim|Not "
    r"claimed|The paper says the opposite|a rule of ours|our own claim|not in the (paper|source|text)"
)
"""What a remark on a claim of the source may not say."""


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=lambda s: s.id)
def test_place_and_remark_agree_with_who_says_so(statement):
    told = f"{statement.place}. {statement.remark}"
    if statement.said == Said.READER:
        assert OWN.search(told), told
    if statement.said == Said.CLAIMED:
        assert not SAYS_OTHERWISE.search(told), told
    if statement.said == Said.DENIED:
        assert re.search(
            r"[Tt]he (paper|authors) says?|[Aa]s the (authors|paper) say|say that|warns", told
        ), told


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tdrf-claim-strategy-proof-in-time", Said.READER),
        ("tdrf-claim-strategy-proof-in-contributions", Said.READER),
        ("tdrf-claim-nobody-starves", Said.READER),
        ("tdrf-claim-sharing-incentive", Said.DENIED),
        ("drf-machines-within-one-task", Said.READER),
        ("tdrf-exchange-one-rule", Said.READER),
        ("drf-dominant-resources-swapped", Said.DENIED),
        ("tdrf-drf-is-strategy-proof", Said.DENIED),
        ("psdsf-lemma-1", Said.CLAIMED),
    ],
)
def test_who_says_what_was_told_wrongly(name, said):
    assert STATEMENTS[name].said == said


# Numbers of the evidence.


def as_good(finding, path):
    """Whether another number at this place is evidence as well."""
    evidence = finding.evidence
    if evidence["kind"] in ("assignment", "instance", "along"):
        return True  # another witness
    if path[0] in ("met", "size", "path") or path[1:2] == ("met",):
        return True  # other values that meet the hypotheses
    # A multiple of a single term that is a contradiction by itself is one, too.
    part = evidence[path[0]] if evidence["kind"] in ("induction", "states") else evidence
    return (
        "terms" in part
        and len(part["terms"]) == 1
        and not part["cofactors"]
        and path[-1] in ("coefficient", "square")
    )


@pytest.mark.long
@pytest.mark.parametrize("name", STATEMENTS)
def test_evidence_with_one_other_number_is_refused(name):
    verdict, statement = verdict_of(name), STATEMENTS[name]
    steps = statement.ask(statement.question(verdict.sizes))
    rng = random.Random(name)
    # Numbers of long families of cases are bent in test_engine: all are counted and digested by one function.
    found = [
        (step, finding, path)
        for step, finding in zip(steps, verdict.findings, strict=True)
        if finding.evidence.get("kind") not in ("enumerated", "searched")
        for path in numbers_in(finding.evidence)
        if path[-1] != "kind" and not as_good(finding, path)
    ]
    for step, finding, path in rng.sample(found, min(2, len(found))):
        # Only this step, so that those before it are not checked again each time.
        with pytest.raises(EvidenceError):
            verify_finding(step.claim, replace(finding, evidence=changed(finding.evidence, path)))
        with pytest.raises(EvidenceError):
            verify_finding(step.claim, replace(finding, status=Status.UNKNOWN))


# Mutants: without a hypothesis a witness contradicts the statement, or a step of its proof.

CONTRADICTED = {
    "br-balanced-fits": {"attained", "demand", "largest", "rates"},
    "br-balanced-smallest": {"attained", "demands", "empty", "fits"},
    "br-bmf-efficient": {"demand", "full", "no loss"},
    "br-bmf-envy-free": {"bottleneck", "bundle", "demand"},
    "br-bmf-exists": {"decides", "levels", "map"},
    "br-bmf-full-resources": {"bottleneck", "fits", "full"},
    "br-bmf-no-justified-complaints": {"bottleneck", "entitlements", "full"},
    "br-bmf-path": {"cap"},
    "br-bmf-scale-invariant": {"fits", "full", "shares", "units"},
    "br-bmf-segment": {"above", "below", "bottleneck", "fits", "line"},
    "br-bmf-sharing-incentive": {"bottleneck", "full"},
    "br-bmf-stable-two": {"different", "price", "second", "singular", "tasks"},
    "br-bmf-unique-two": {"largest"},
    "br-drf-bottlenecks": {"levels", "others", "stopped"},
    "br-drf-efficient": {"demand", "full", "no loss"},
    "br-drf-envy-free": {"bundle", "largest"},
    "br-drf-scale-invariant": {
        "demand",
        "dominant",
        "factors",
        "fits",
        "full",
        "level",
        "others",
        "shares",
        "units",
    },
    "br-drf-sharing-incentive": {"full", "others"},
    "br-drf-strategy-proof": {"least", "more"},
    "br-drift-cone": {"beyond", "critical", "fits", "high", "load", "low", "off", "steep"},
    "br-drift-unbalanced": {
        "beyond",
        "few",
        "first",
        "fits",
        "grows",
        "high",
        "load",
        "loads",
        "low",
        "much",
        "off",
        "one",
        "second",
        "shallow",
        "steep",
        "steeper",
        "ten",
    },
    "br-duration-bound-tight": {"derivative", "law", "mean", "wait"},
    "br-feasible": {"capacity", "scaling"},
    "br-load-necessary": {"balance", "fits", "overload"},
    "br-optimum-two": {"fits", "full", "loads", "signs", "states", "stationary"},
    "br-pf-changes": {"changes", "fits", "largest", "parabola", "part", "tangent", "way"},
    "br-pf-irrational": {"root"},
    "br-pf-scale-invariant": {"shares", "units"},
    "br-pf-sharing-incentive": {"inverse"},
    "br-product-form": {"law", "rates"},
    "dcdrf-epsilon-zero": {"before", "levels", "sums", "updated", "zero"},
    "dcdrf-gain": {"allocated", "fits"},
    "dcdrf-lemma-3-1": {"frozen"},
    "dcdrf-lemma-3-2": {"exhausts", "lines", "one per tenant", "resources"},
    "dcdrf-numbers-of-the-text": {"active", "idle", "least", "pairs", "tenants"},
    "dcdrf-rounds": {"equal"},
    "drf-ceei-unique": {"income", "positive"},
    "drf-equal-shares": {"equal", "room"},
    "drf-example": {"cpu", "equal"},
    "drf-filling": {"goes on"},
    "drf-no-policy-has-all": {"efficiency"},
    "drf-table-asset-ef": {"covers", "level other"},
    "drf-table-asset-pe": {"demand", "full", "no loss"},
    "drf-table-asset-single": {"full", "level"},
    "drf-table-asset-sp": {"covers"},
    "drf-table-ceei-si": {"income"},
    "drf-table-ceei-single": {"income", "sold out"},
    "drf-table-drf-bottleneck": {"feasible", "full"},
    "drf-table-drf-ef": {"covers", "level other"},
    "drf-table-drf-pe": {"demand", "full", "no loss"},
    "drf-table-drf-si": {"level"},
    "drf-table-drf-single": {"full", "level"},
    "drf-table-drf-sp": {"covers"},
    "edrf-bundles-ef1-impossible": {"efficient", "fair"},
    "edrf-bundles-si-impossible": {"efficient", "fair"},
    "edrf-first-round": {"entitlements", "exhausted", "smallest"},
    "edrf-minmax-pareto": {"ends", "fits", "no loss"},
    "edrf-minmax-random": {"share after"},
    "edrf-one-round": {"holds"},
    "edrf-operations": {"agents", "stops", "vectors"},
    "edrf-pareto": {"demanded", "exhausted", "fits", "no loss"},
    "psdsf-algorithm-rests": {"condition", "highest", "lowest"},
    "psdsf-bottleneck-fair": {"dominant", "level"},
    "psdsf-c-drfh-envy-free": {"best", "tasks"},
    "psdsf-c-drfh-pareto": {"best", "no loss"},
    "psdsf-c-drfh-strategy-proof": {"best", "fits", "later", "none loses"},
    "psdsf-cdrf-bottleneck-fair": {"best", "dominant", "no loss", "share"},
    "psdsf-cdrf-one-server": {"alone", "dominant", "level"},
    "psdsf-cdrf-sharing-incentive": {"best"},
    "psdsf-corollary-1": {"attained", "bottleneck", "enough", "highest"},
    "psdsf-drfh-bottleneck-fair": {"alone", "best", "dominant", "no loss", "share"},
    "psdsf-lemma-1-one-server": {"level later"},
    "psdsf-lemma-2": {"n is served", "no loss", "p is served"},
    "psdsf-max-min-prices": {"fits", "price"},
    "psdsf-single-server": {"alone", "dominant", "level", "saturated"},
    "psdsf-theorem-1": {"demanded", "highest", "saturated"},
    "psdsf-theorem-2": {"busy", "demanded", "highest"},
    "psdsf-time-fisher-market": {"complementary", "lowest level", "price", "served"},
    "psdsf-time-implies-resource": {"alone", "part", "time"},
    "psdsf-time-unique": {"busy"},
    "psdsf-tsf-envy-free": {"best", "tasks"},
    "psdsf-tsf-pareto": {"best", "no loss"},
    "psdsf-tsf-strategy-proof": {"best", "fits", "later", "none loses"},
    "tdrf-drf-is-strategy-proof": {"covers"},
    "tdrf-end-cancels": {"end", "levels", "weight A"},
    "tdrf-optimum-4-1": {"four", "levels", "one"},
    "tdrf-strategy-proof-in-demands": {"covers"},
    "tdrf-whole-tasks": {"ties to A"},
}
"""Hypotheses without which a witness contradicts the statement itself."""


VALUES = {
    *("br-examples", "br-drf-leaves-room", "br-pf-irrational", "br-capacity-region", "br-drift-values"),
    "br-balanced-stable",
    *(
        "br-durations-example",
        "br-pf-durations-example",
        "br-service-example",
        "br-whole-tasks",
        "drf-example-order",
    ),
    *("tdrf-exchange-section-2-2", "tdrf-exchange-t1"),
    *("psdsf-figure-1", "psdsf-figure-2", "psdsf-table-4", "psdsf-two-servers"),
    *("drf-whole-tasks-gap", "tdrf-exchange-harmless"),
}
"""Here another number than the stated one is no proof and no refutation, the only witness is a root, or an
induction is not proved, and nothing refutes inductions."""


MUST_BE_NEGATIVE = {"part", "positive", "price", "only what it cannot use"}
"""Hypotheses without which numbers below 0 are the point."""


@pytest.mark.parametrize(("name", "mutant"), [(s.id, m) for s in STATEMENTS.values() for m in s.mutants])
@pytest.mark.long
def test_mutants(name, mutant):
    statement = STATEMENTS[name]
    small = {k: max(size.least, 2) for k, size in statement.sizes.items()} if name.startswith("br-") else {}
    verdict = check(name, drop=[mutant], **small)
    refuted = mutant in CONTRADICTED.get(name, ())
    assert verdict.status == (Status.REFUTED if refuted else Status.UNKNOWN), verdict
    another_value = verdict.broken is None and not refuted
    assert not another_value or name in VALUES, verdict
    question = statement.question(verdict.sizes, verdict.dropped)
    known = [finding.evidence for finding in verdict_of(name).findings]
    for step, finding in zip(statement.ask(question), verdict.findings, strict=True):
        if finding.evidence not in known:  # the others were checked with the whole statement
            verify_finding(step.claim, finding)
        if finding.states and finding.evidence.get("kind") in ("assignment", "instance", "along"):
            # Witnesses are sensible: no negative tasks, demands or shares, where statements are about these.
            values = map(Fraction, finding.evidence["values"].values())
            told = name.startswith(("drf-", "tdrf-", "psdsf-")) and mutant not in MUST_BE_NEGATIVE
            assert min(values) >= 0 or not told


# Kinds of proof.

FINITE = {
    *("br-bmf-path", "br-capacity-region", "br-drf-leaves-room", "br-drift-values", "br-durations-example"),
    *("br-examples", "br-pf-durations-example", "br-service-example", "br-whole-tasks"),
    "dcdrf-demanded-resource",
    *("dcdrf-lonely-tenant", "drf-example-asset", "drf-example-ceei", "drf-example-order"),
    *("drf-weighted-example", "edrf-bundles-ef1-impossible", "edrf-bundles-si-impossible"),
    *("psdsf-figure-1", "psdsf-figure-2", "psdsf-greater-cpu-use", "psdsf-table-4", "psdsf-two-servers"),
    *("tdrf-exchange-is-not-linear", "tdrf-exchange-section-2-2", "tdrf-exchange-t1", "tdrf-optimum"),
    "tdrf-whole-tasks",
}
"""Examples, families that are computed, mechanisms for the demands that are named, and a general argument
beside which cases are computed."""

UNENDED = 0
"""General proofs whose last step is not the statement; fewer are better, and more are not allowed."""


def test_how_many_proofs_do_not_end_in_their_statement():
    general = [s for s in STATEMENTS.values() if expected(s.id) == Status.PROVED and s.id not in FINITE]
    short = {s.id: told for s in general if (told := shortfall(s))}
    assert len(short) <= UNENDED, short
    assert len(short) == UNENDED, f"{len(short)} of {len(general)} are left: lower the number to this"


@pytest.mark.long
def test_what_is_proved_for_some_sizes_does_not_count_as_general(verdicts):
    kinds = {name: verdict.proof for name, verdict in verdicts.items() if verdict.proof is not None}
    assert {name for name, kind in kinds.items() if kind == Kind.FINITE} == FINITE
    assert Kind.SOLVER not in kinds.values()
    told = Path(__file__).parents[3].joinpath("docs/theory/evidence.md").read_text(encoding="utf-8")
    for kind, number in Counter(kinds.values()).items():
        assert re.search(rf"^\| {kind} \|.*\| {number} \|$", told, re.MULTILINE), (kind, number)
    for name, kind in kinds.items():
        told = verdicts[name].kind
        assert told.startswith(kind)
        assert (kind == Kind.GENERAL) == (told == "general, by certificates only")
        assert kind == Kind.FINITE or not STATEMENTS[name].bounds(STATEMENTS[name].question())


# Sizes.

BONALD_ROBERTS = next(iter(PAPERS))


@pytest.mark.parametrize("statement", [s for s in STATEMENTS.values() if s.sizes], ids=lambda s: s.id)
def test_sizes_out_of_scope(statement):
    for name, size in statement.sizes.items():
        for value in (size.least - 1, size.most + 1):
            told = f"is checked for {name} .* from {size.least} to {size.most}; got {value}"
            with pytest.raises(ProofError, match=told):
                check(statement.id, **{name: value})


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        *((s.id, {k: v.least}) for s in statements_of(BONALD_ROBERTS) for k, v in s.sizes.items()),
        *((f"edrf-bundles-{k}-impossible", {"c": c}) for c in range(2, 7) for k in ("si", "ef1")),
        ("edrf-one-round", {"n": 2}),
        ("dcdrf-lonely-tenant", {"n": 3}),
    ],
    ids=str,
)
def test_other_sizes(name, sizes):
    verdict = check(name, **sizes)
    assert verdict.status == expected(name)
    assert verdict.sizes.items() >= sizes.items()


# Witnesses.


def numbers(data):
    """All numbers in plain data, fractions included."""
    if isinstance(data, dict):
        for value in data.values():
            yield from numbers(value)
    elif isinstance(data, list):
        for value in data:
            yield from numbers(value)
    elif isinstance(data, int) and not isinstance(data, bool):
        yield Fraction(data)
    elif isinstance(data, str):
        try:
            yield Fraction(data)
        except ValueError:
            return


@pytest.mark.long
def test_what_is_refuted_has_a_small_witness(verdicts):
    refuted = {name: v for name, v in verdicts.items() if v.status == Status.REFUTED}
    assert refuted
    for name, verdict in refuted.items():
        witness = verdict.witness
        assert witness, name
        finding = next(f for f in verdict.findings if f.status == Status.REFUTED)
        given = [finding.claim.get("arguments", {}), {**witness, "values": {}}]
        if witness["kind"] in ("assignment", "instance", "along"):
            given.append(witness["values"])
        told = list(numbers(given))
        assert told, name
        for bound, some in ((LARGEST, told), (COMPUTED, numbers(witness))):
            for number in some:
                assert max(abs(number.numerator), number.denominator) < bound, (name, number)


# The command.


def test_the_table_for_machines_is_json(capsys):
    assert main(["br-feasible", "br-mmf-scale-invariant", "--json", "--jobs", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [v["status"] for v in told] == ["PROVED", "REFUTED"]


def test_the_table_for_people(capsys):
    assert main(["br-feasible", "br-product-form", "--jobs", "1", "--verify"]) == 0
    told, aside = capsys.readouterr()
    assert "2 statements: 2 PROVED" in told
    assert "2 general, by certificates only" in told
    assert "all evidence verified" in aside


def test_sizes_and_hypotheses_of_one_statement(capsys):
    assert main(["br-feasible", "--size", "n=2", "--drop", "capacity"]) == 0
    assert "br-feasible without 'capacity': REFUTED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["br-feasable"], "no statement is called 'br-feasable'; near: br-feasible"),
        (["br-feasible", "--size", "n=99"], r"for n (jobs) from 1 to 8; got 99"),
        (["br-feasible", "--size", "k=2"], "br-feasible has no size 'k'; its sizes: n"),
        (["br-feasible", "--size", "drop=2"], "br-feasible has no size 'drop'; its sizes: n"),
        (["br-feasible", "--size", "n"], "NAME=VALUE"),
        (["--size", "n=2"], "the id of one statement"),
        (["br-feasible", "--drop", "scale"], "no hypothesis 'scale'; its hypotheses: capacity, scaling"),
        (["br-feasible", "--jobs", "0"], "or -1 for all cores"),
        (["br-feasible", "--time-limit", "0"], "seconds > 0; got 0"),
        (["br-feasible", "--time-limit", "nan"], "seconds > 0; got nan"),
    ],
)
def test_wrong_use_is_told_in_one_line(capsys, arguments, told):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert told in err
    assert err.count("\n") == 1

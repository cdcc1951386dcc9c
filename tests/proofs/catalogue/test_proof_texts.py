"""Proofs in docstrings say the same claims as those that are asked for in Python, or are refused."""

import pytest

from proofs import Computation, InWords, ProofError, Step
from proofs.catalogue.proof_texts import argued, proved
from proofs.language.sums import substituted
from proofs.statement import Question

PROOF = """\
# x: tasks.
If the other demands nothing, nothing runs
with its bundle.
    demand: a > 0; bundle: y*a <= 0; y >= 0
    => y <= 0 (as stated)
    by bundle * demand | y - 1; not the conclusion
    degree 3
...
For all others i.
    demand; fits: sum[i](y[i]) <= 1; y[i] >= 0
    besides whole: t == 1;
    room: t >= y
    => y*a <= a
After every round.
    power: P[n+1] == P[n]/2
    => P[n] <= P[1]
    by induction * power
    from 1
So nobody gains.
    In words: One of the two
    is the case.
"""
OWN = [Step("A first one.", InWords("Read.")), Step("A second one.", InWords("Read."))]
ASKED = Question({}, dropped=frozenset({"fits", "whole"}), names=frozenset({"fits", "whole", "demand"}))


def test_a_proof_in_a_docstring_says_what_python_says():
    signs = {"sign of y": "y[i] >= 0"}
    assert list(proved(PROOF, lambda question: OWN)(ASKED)) == [
        Step(
            "If the other demands nothing, nothing runs with its bundle.",
            ASKED.implies(
                {"demand": "a > 0", "bundle": "y*a <= 0", "sign of y": "y >= 0"},
                "y <= 0",
                "bundle * demand | y - 1",
                "not the conclusion",
                degree=3,
            ),
            states=True,
        ),
        OWN[0],
        Step(
            "For all others i.",
            ASKED.for_every(
                {"demand": "a > 0", "fits": "sum[i](y[i]) <= 1"} | signs,
                "y*a <= a",
                fixed={"whole": "t == 1", "room": "t >= y"},
            ),
        ),
        Step(
            "After every round.",
            ASKED.by_induction({"power": "P[n+1] == P[n]/2"}, "P[n] <= P[1]", "induction * power", first=1),
        ),
        Step("So nobody gains.", InWords("One of the two is the case.")),
        OWN[1],
    ]


def test_what_is_computed_has_its_words_in_the_docstring():
    half, third = (Computation("half_of", {"number": n}, f"{n}/2") for n in (1, 3))
    text = "Half of one\nis a half.\n    Computed.\n...\nSo it is of three.\n    Computed (as stated).\n"
    told = proved(text, lambda question: iter([half, OWN, third, OWN[0]]))
    assert list(told(ASKED)) == [
        Step("Half of one is a half.", half),
        *OWN,
        Step("So it is of three.", third, states=True),
        OWN[0],
    ]


def test_a_claim_has_words_and_a_step_its_own():
    claim = Computation("half_of", {"number": 1}, "1/2")
    for text in ("...\n", ""):
        with pytest.raises(ProofError, match="a claim without words has its step in the docstring"):
            list(proved(text, lambda question: [claim])(ASKED))
    with pytest.raises(ProofError, match=r"the step 'Words\.' is a claim alone; got Step"):
        list(proved("Words.\n    Computed.\n", lambda question: OWN)(ASKED))


def test_hints_and_degrees_are_read():
    first, _, _, third, *_ = (step.claim for step in proved(PROOF, lambda question: OWN)(ASKED))
    assert first.hints == ((("bundle", "demand"), "y - 1"), (("not the conclusion",), "1"))
    assert (first.degree, third.first, third.hints) == (3, 1, ((("induction", "power"), "1"),))


CHAIN = """\
[paid] What is bought is paid.
    price: p[j] >= 0; cost: y*sum[j](p[j]) <= z; z >= 0
    => y*sum[j](p[j]) <= z
[income] Nobody pays more.
    paid: c <= z; income: z <= 1
    => c <= 1
Together.
    from paid (bought)
    from income knowing paid with c = y*sum[j](p[j])
    => y*sum[j](p[j]) <= 1 (as stated)
"""


def test_citations_are_chains_of_lemmas():
    steps = list(proved(CHAIN, lambda question: None)(ASKED))
    paid, income = (step.claim for step in steps[:2])
    bought = {f"{name} (bought)": substituted(text, {}) for name, text in paid.hypotheses.items()}
    cites = paid, (income, {"c": "y*sum[j](p[j])"})
    chain = ASKED.follows({}, "y*sum[j](p[j]) <= 1", *cites, fixed=bought | {"income": "z <= 1"})
    assert steps[0].says == "What is bought is paid."
    assert steps[2] == Step("Together.", chain, states=True)


def test_shared_steps_have_places_for_texts_and_dots_for_what_is_yielded():
    @argued
    def shared(question, says, level):
        """What is shared.

        Proof
            {says}
                a: a > 0
                => {level}*a >= 0
            ...
            Now the rest.
                In words: Read.
        """
        yield OWN
        yield OWN[0]

    told = list(shared(ASKED, "Of two.", "2"))
    assert [step.says for step in told] == ["Of two.", *(s.says for s in OWN), "Now the rest.", OWN[0].says]
    assert told[0].claim == ASKED.implies({"a": "a > 0"}, "2*a >= 0")


def test_steps_that_are_shared_have_their_proof_in_the_docstring():
    @argued
    def shared(question):
        """What is shared.

        Proof
            By definition.
                In words: Read.
        """
        return OWN

    says = ["By definition.", "A first one.", "A second one."]
    assert [step.says for step in shared(Question({}))] == says
    assert shared.__name__ == "shared"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Words.\n    demand: a > 0\n", "'Words.' has one line that begins with \"=>\""),
        ("Words.\n", "has one line that begins with"),
        ("Words.\n    a: a > 0\n    => a > 0\n    => a >= 0\n", "has one line that begins with"),
        ("Words.\n    demand\n    => a > 0\n", "no step before has the hypothesis 'demand'"),
        ("Words.\n    a: a > 0; a: a > 1\n    => a > 0\n", "two hypotheses of one step are called 'a'"),
        ("Words.\n    a: a > 0\n    => a > 0\n    with a\n", "stand products behind"),
        ("Words.\n    a: a > 0\n    => a > 0\n    by b\n", "names 'b', which is no hypothesis"),
        ("Words.\n    from a\n    => a > 0\n", "no step before that can be cited has the label of 'a'"),
        ("...\n...\n...\n", "more lines of dots, or of what is computed, than its function yields"),
        ("Words.\n    Computed\n", "has one line that begins with"),
    ],
)
def test_what_cannot_be_read_is_told(text, told):
    with pytest.raises(ProofError, match=told):
        list(proved(text, lambda question: OWN)(Question({})))


def test_shared_steps_without_a_proof_are_refused():
    with pytest.raises(ProofError, match="the docstring of shared has no part Proof; python -OO"):

        @argued
        def shared(question):
            """What is shared."""


STATES = """\
It is positive in all states.
    demand: a > 0; rest: a[i] >= 0;
    fits: P == a*Q + sum[i](a[i]*Q[i])
    empty first: P == 1
    less P = Q
    always P > 0
    => 2*P > 0 (as stated)
    by demand * before; rest * before i
"""


def test_an_induction_over_states_says_what_python_says():
    (step,) = proved(STATES, lambda question: ())(Question({}))
    wanted = Question({}).in_all_states(
        {"demand": "a > 0", "rest": "a[i] >= 0", "fits": "P == a*Q + sum[i](a[i]*Q[i])"},
        "2*P > 0",
        "demand * before",
        "rest * before i",
        start={"first": "P == 1"},
        less={"P": "Q"},
        always="P > 0",
    )
    assert step == Step("It is positive in all states.", wanted, states=True)
    assert step.claim.hints == wanted.hints
    # What is dropped is dropped in the empty state, too.
    (step,) = proved(STATES, lambda question: ())(Question({}, dropped=frozenset({"first", "rest"})))
    assert not step.claim.start
    assert set(step.claim.hypotheses) == {"demand", "fits"}
    with pytest.raises(ProofError, match="what always holds is a relation between functions"):
        list(proved(STATES.replace("    less P = Q\n", ""), lambda question: ())(Question({})))

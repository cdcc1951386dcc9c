"""Hypotheses that are rules: what follows wherever something else holds, for all values of some variables.

``"y1 <= x1 if y1 + sum[k](y[k]) <= c and y[k] >= x[k] for all y1, y[k]"`` says of x1, x and c that no
values of y1 and of the family y that meet both premises exceed x1: a definition, such as that of max-min
fairness, as a hypothesis. Other variables are those of the claim. A premise with a free index is meant for
all elements, and so is the conclusion. ``"h[k] <= t if x[k] > 0 for each k"`` is one rule for each element k.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import product

from proofs.errors import ProofError
from proofs.language.polynomials import Monomial, Polynomial, read_once
from proofs.language.relations import Relation, relation, scaled
from proofs.language.sums import (
    as_one_equation,
    as_written,
    free_letters,
    instances,
    letters,
    plain_relation,
    plain_text,
    substituted,
    tree_of,
    variables,
)

__all__ = ["is_rule", "normal_parts", "parts_of", "rule_text", "variables_in", "with_terms", "written_out"]

RULE = re.compile(r"(.+?) if (.+?)(?: for all (.+?))?(?: for each (.+))?")
BETWEEN = re.compile(r",\s*(?![^\[]*\])")
"""A comma that stands in no brackets."""

Parts = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Conclusion, premises, the variables that have all values, and the letters that stand for one element."""


def is_rule(text: str) -> bool:
    """Whether a text is a rule, and no relation.

    Examples
    --------
    >>> is_rule("x <= 1 if x >= 0"), is_rule("x <= 1")
    (True, False)
    """
    return "if" in text and re.search(r"\bif\b", text) is not None


@read_once
def parts_of(text: str) -> Parts:
    """Conclusion, premises, variables with all values, and letters of one element each.

    Raises
    ------
    ProofError
        If the text is no rule, or a letter or a variable stands where it cannot.

    Examples
    --------
    >>> parts_of("y1 <= x if y1 + sum[k](y[k,i]) <= c[i] for all y1, y[k,i]")
    ('y1 <= x', ('y1 + sum[k](y[k,i]) <= c[i]',), ('y1', 'y[k, i]'), ())
    """
    found = RULE.fullmatch(text.strip())
    if found is None:
        raise ProofError(f"{text!r}: a rule is written as in 'y <= x if y <= c and y >= d for all y'")
    conclusion, premises, over, each = found.groups()
    texts = tuple(as_one_equation(part) for part in (conclusion, *premises.split(" and ")))
    names = tuple(map(as_written, BETWEEN.split(over))) if over else ()
    singles = tuple(BETWEEN.split(each)) if each else ()
    if plain_relation(texts[0]).sign == "!=":
        raise ProofError(f"{text!r}: a rule concludes an order or an equation, not that two sides differ")
    known = set().union(*map(variables, texts))
    if unknown := [name for name in names if name not in known]:
        raise ProofError(f"{text!r} does not hold the variable {unknown[0]!r}, which is to have all values")
    free, bound = set().union(*map(free_letters, texts)), set().union(*map(_bound, texts))
    for letter in singles:
        if letter not in free or letter in bound:
            raise ProofError(
                f"{text!r}: {letter!r} is no index, or one of a sum, and cannot be of one element"
            )
        if any(letter in letters(name) for name in names):
            raise ProofError(
                f"{text!r}: a variable that has all values carries {letter!r}, that of one element"
            )
    return texts[0], texts[1:], names, singles


@read_once
def normal_parts(text: str) -> tuple[Relation, tuple[Relation, ...], tuple[str, ...], tuple[str, ...]]:
    """The parts of a rule in plain variables, in one form for all that say the same.

    Relations are up to multiples, and all but the conclusion in one order.

    Examples
    --------
    >>> normal_parts("2*y1 <= 2*x if sum[k](y[k,i]) <= c[i] for all y1, y[k,i]")
    (x - y1 >= 0, (c_i - sum_k__y_k_i >= 0,), ('y1', 'y_k_i'), ())
    """
    conclusion, premises, over, each = parts_of(text)
    told = sorted((scaled(plain_relation(premise)) for premise in premises), key=repr)
    names = tuple(sorted(map(plain_text, over)))
    return scaled(plain_relation(conclusion)), tuple(told), names, tuple(sorted(each))


def _bound(text: str) -> set[str]:
    """Letters over which a text sums."""
    nodes = [node for node in ast.walk(tree_of(text)) if isinstance(node, ast.Subscript)]
    sums = [node for node in nodes if ast.unparse(node.value) == "sum"]
    return {part.id for node in sums for part in ast.walk(node.slice) if isinstance(part, ast.Name)}


def rule_text(parts: Parts) -> str:
    """The text of these parts; see :func:`parts_of`."""
    conclusion, premises, over, each = parts
    told = f"{conclusion} if {' and '.join(premises)}"
    told += f" for all {', '.join(over)}" if over else ""
    return told + (f" for each {', '.join(each)}" if each else "")


def variables_in(text: str) -> frozenset[str]:
    """Variables of a relation, or of a rule without those that have all values there."""
    if not is_rule(text):
        return variables(text)
    conclusion, premises, over, _ = parts_of(text)
    return frozenset().union(*map(variables, (conclusion, *premises))) - set(over)


def with_terms(text: str, values: Mapping[str, str]) -> str:
    """A relation or a rule with terms for its variables; see :func:`proofs.language.sums.substituted`.

    Raises
    ------
    ProofError
        If a term holds a variable that has all values in the rule, or an index that it uses, or if a premise
        loses an index with its term.

    Examples
    --------
    >>> with_terms("y <= x if y <= c for all y", {"c": "2*d", "y": "7"})
    'y <= x if y <= 2 * d for all y'
    """
    if not is_rule(text):
        return substituted(text, values)
    conclusion, premises, over, each = parts_of(text)
    terms = {name: term for name, term in values.items() if as_written(name) not in over}
    if used := [
        name for name in over for term in terms.values() if _base(name) in map(_base, variables(term))
    ]:
        raise ProofError(f"a term for {text!r} holds {used[0]!r}, which has all values there")
    held = set().union(*map(letters, (conclusion, *premises)))
    for name, term in terms.items():
        if captured := (free_letters(term) - letters(name)) & held:
            raise ProofError(f"the term for {name} carries the index {min(captured)!r}, which {text!r} uses")
    told = [substituted(part, terms) for part in (conclusion, *premises)]
    # A premise is meant for all elements of a set, which may have none; without the index it asks for more.
    for part, new in zip(premises, told[1:], strict=True):
        if lost := free_letters(part) - set(each) - free_letters(new):
            raise ProofError(f"{text!r}: the premise {part!r} loses the index {min(lost)!r} with its terms")
    # What is cited for each element needs the rule for each.
    brought = set().union(*(free_letters(term) - letters(name) for name, term in terms.items()))
    each = tuple(sorted({*each, *(brought & set().union(*map(free_letters, told)))}))
    return rule_text((told[0], tuple(told[1:]), over, each))


def _base(name: str) -> str:
    return name.partition("[")[0]


def written_out(text: str, size: int, label: str) -> Iterator[tuple[str, str]]:
    """Relations from which a rule follows where all sets have so many elements, each with a name.

    The conclusion is a sum of premises times multipliers that are not negative (an equation is two premises),
    plus a number that is not negative, whatever the values of the variables that have all of them: Farkas'
    lemma, the dual of a linear program. The multipliers are variables called after ``label``.

    Examples
    --------
    >>> [told for _, told in written_out("y <= x if d*y <= c for all y", 1, "m")]
    ['m_1_1 >= 0', 'd*m_1_1 - 1 == 0', '-c*m_1_1 + x >= 0']
    """
    conclusion, premises, over, each = parts_of(text)
    names = {
        name if "[" not in name else _plain(written)
        for name in over
        for _, written in (instances(f"{name} >= 0", size) if "[" in name else [((), "")])
    }
    number = 0
    for chosen in product(range(1, size + 1), repeat=len(each)):
        fixed = dict(zip(each, chosen, strict=True))
        held = [relation(w) for part in premises for w in _matching(part, size, fixed)]
        for goal in _matching(conclusion, size, fixed):
            wanted = relation(goal)
            for left in [wanted.left, -wanted.left][: 2 if wanted.sign == "==" else 1]:
                number += 1
                sign = ">" if wanted.sign == ">" else ">="
                for k, told in enumerate(_combined(left, sign, held, names, f"{label}_{number}"), 1):
                    yield f"{label} {number} {k}", told


def _plain(written: str) -> str:
    return written.partition(" ")[0]


def _matching(text: str, size: int, fixed: Mapping[str, int]) -> Iterator[str]:
    """The text for all choices of its free letters that agree with some."""
    free = sorted(free_letters(text))
    for choice, written in instances(text, size):
        if all(fixed.get(letter, value) == value for letter, value in zip(free, choice, strict=True)):
            yield written


def _combined(
    left: Polynomial, sign: str, held: list[Relation], names: set[str], label: str
) -> Iterator[str]:
    """That multipliers of these relations make the polynomial, in all values of the variables named."""
    rest = left
    for k, r in enumerate(held, 1):
        if r.sign == "!=":
            continue
        for end, left in (("", r.left), ("_down", -r.left))[: 2 if r.sign == "==" else 1]:
            multiplier = relation(f"{label}_{k}{end} >= 0")
            yield repr(multiplier)
            rest = rest - multiplier.left * left
    parts: dict[Monomial, Polynomial] = {(): Polynomial({})}
    for monomial, c in rest.terms.items():
        inner = tuple(factor for factor in monomial if factor[0] in names)
        outer = tuple(factor for factor in monomial if factor[0] not in names)
        parts[inner] = parts.get(inner, Polynomial({})) + Polynomial({outer: c})
    constant = parts.pop(())
    yield from (repr(Relation(p, "==")) for p in parts.values())
    yield repr(Relation(constant, sign))

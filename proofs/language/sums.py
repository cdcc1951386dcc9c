"""Sums over index sets of any size: how their texts are read.

``x[i]`` is a family of variables, one for each i of a finite set, and ``sum[i](x[i]*a[i])`` a sum over that
set, ``sum[i](1)`` the number of its elements. A letter stands for one set wherever it occurs in a claim; sets
are finite, may be empty, and nothing else is known of them. ``sum[i,j](q[j]*u[i,j])`` runs over all pairs.

Sums are linear, and what does not depend on the index stands before the sum. With these rules, which hold for
sets of all sizes, every text becomes one in plain variables: the members ``x_i`` and the sums
``sum_i__a_i__x_i`` of monomials. A relation that holds for all real values of these variables holds for all
families over all sets, as the variables are real numbers.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from proofs.errors import ProofError
from proofs.language.polynomials import Monomial, Polynomial, parsed, polynomial, read_once
from proofs.language.relations import OPERATORS, TURNED, Relation, relation

__all__ = [
    "as_one_equation",
    "as_written",
    "free_letters",
    "indices_in",
    "instances",
    "letters",
    "members",
    "parted",
    "plain_relation",
    "plain_text",
    "substituted",
    "summand_of",
    "summed",
    "tree_of",
    "turned",
    "variables",
]

NAME, INDEX = re.compile(r"[A-Za-z][A-Za-z0-9]*"), re.compile(r"[a-z]")


@read_once
def plain_text(text: str) -> str:
    """The text in plain variables: members of families and sums in their normal form.

    Raises
    ------
    ProofError
        If it cannot be read.

    Examples
    --------
    >>> plain_text("sum[i](2*s*x[i] + 1) <= t")
    '2 * s * sum_i__x_i + sum_i <= t'
    >>> plain_text("sum[j](q[j]*sum[i](u[i,j])) == sum[i,j](q[j]*u[i,j])")
    'sum_i_j__q_j__u_i_j == sum_i_j__q_j__u_i_j'
    """
    return ast.unparse(_Plain().visit(tree_of(text)))


def _is_number(node: ast.AST) -> bool:
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))


@read_once
def as_one_equation(text: str) -> str:
    """The text, or for equations with "or" between them the one that says the same: a product is 0.

    With it each member of a set may have one of several properties, ``"a[i]*x[i] == t or b[i]*x[i] == u"``.

    Raises
    ------
    ProofError
        If "or" stands between anything but equations of two sides, or something is divided by a variable.

    Examples
    --------
    >>> as_one_equation("a[i]*x[i] == t or x[i] == 0")
    '(a[i] * x[i] - t) * (x[i] - 0) == 0'
    """
    if not re.search(r"\bor\b", text):
        return text
    tree, sides = tree_of(text), list[str]()
    # In a product a divisor would be excluded from being 0 where another equation holds.
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not _is_number(node.right):
            raise ProofError(f'{text!r}: equations with "or" between them have no divisor but numbers')
    for part in tree.values if isinstance(tree, ast.BoolOp) else [tree]:
        match part:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                sides.append(f"({ast.unparse(ast.BinOp(left, ast.Sub(), right))})")
            case _:
                raise ProofError(f'{text!r}: "or" stands between equations, as in x == 0 or y == 1')
    return f"{' * '.join(sides)} == 0"


@read_once
def plain_relation(text: str) -> Relation:
    """The relation in plain variables.

    Raises
    ------
    ProofError
        If it cannot be read, or is written for each element of a set on which it does not depend: of an empty
        set it would say nothing.
    """
    r = relation(plain_text(text))
    if gone := _unbound(tree_of(text)) - indices_in(r):
        raise ProofError(f"{text!r} does not depend on the index {min(gone)!r} that it carries")
    return r


@read_once
def variables(text: str) -> frozenset[str]:
    """Variables as they are written, members of families among them.

    Examples
    --------
    >>> sorted(variables("sum[i](x[i]*b) <= c"))
    ['b', 'c', 'x[i]']
    """
    return members(text) | _scalars(tree_of(text))


def _scalars(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Subscript):
        return set()
    if isinstance(node, ast.Call):
        return _scalars(_sum_parts(node)[1])
    found = {node.id} if isinstance(node, ast.Name) else set()
    return found.union(*(_scalars(child) for child in ast.iter_child_nodes(node)))


@read_once
def letters(text: str) -> frozenset[str]:
    """All index letters of a text, also those that a sum binds."""
    nodes = ast.walk(tree_of(text))
    return frozenset(
        index for node in nodes if isinstance(node, ast.Subscript) for index in _subscripts(node)
    )


@read_once
def free_letters(text: str) -> frozenset[str]:
    """Index letters of a text that no sum binds."""
    return frozenset(_unbound(tree_of(text)))


def indices_in(r: Relation) -> frozenset[str]:
    """Letters of a relation in plain variables that no sum binds: it is meant for all of their elements."""
    return frozenset().union(*(_indices(name) for name in r.left.variables))


def turned(text: str) -> str:
    """The inequality the other way round: >= for <=, < for >; != for == and == for !=.

    Raises
    ------
    ProofError
        If it does not compare two sides.

    Examples
    --------
    >>> turned("sum[i](x[i]) <= 1")
    'sum[i](x[i]) >= 1'
    """
    tree = tree_of(text)
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in OPERATORS:
        raise ProofError(f"{text!r} is not a relation of two sides")
    sign = TURNED[OPERATORS[type(tree.ops[0])]]
    return f"{ast.unparse(tree.left)} {sign} {ast.unparse(tree.comparators[0])}"


@read_once
def members(text: str) -> frozenset[str]:
    """Members of families that occur, as texts.

    Examples
    --------
    >>> sorted(members("sum[i](x[i]*a[i,j]) <= c[j]"))
    ['a[i, j]', 'c[j]', 'x[i]']
    """
    nodes = [node for node in ast.walk(tree_of(text)) if isinstance(node, ast.Subscript)]
    return frozenset(ast.unparse(node) for node in nodes if ast.unparse(node.value) != "sum")


def summed(p: Polynomial, index: str) -> Polynomial:
    """Sum over an index of a polynomial in plain variables."""
    total = Polynomial({})
    for monomial, coefficient in p.terms.items():
        outer, _, variable = parted(monomial, index)
        total += Polynomial({outer: coefficient}) * Polynomial({((variable, 1),): Fraction(1)})
    return total


def parted(monomial: Monomial, index: str) -> tuple[Monomial, Monomial, str]:
    """What stands before the sum over an index, what is summed, and the variable that this sum is."""
    inner = tuple((name, e) for name, e in monomial if index in _indices(name))
    outer = tuple(factor for factor in monomial if factor not in inner)
    return outer, inner, _sum_of(index, inner)


def instances(text: str, size: int) -> Iterator[tuple[tuple[int, ...], str]]:
    """The text for sets of so many elements: for each choice of its free indices, the choice and the text.

    Examples
    --------
    >>> list(instances("x[i] <= sum[i](x[i])", 2))
    [((1,), 'x_i1 <= x_i1 + x_i2'), ((2,), 'x_i2 <= x_i1 + x_i2')]
    """
    yield from _instances(text, size)


@read_once
def _instances(text: str, size: int) -> tuple[tuple[tuple[int, ...], str], ...]:
    tree = tree_of(text)
    free = sorted(_unbound(tree))
    found = []
    for choice in product(range(1, size + 1), repeat=len(free)):
        values = dict(zip(free, choice, strict=True))
        found.append((choice, ast.unparse(_Instance(values, size).visit(copy.deepcopy(tree)))))
    return tuple(found)


def substituted(text: str, values: Mapping[str, str]) -> str:
    """The text with terms for its variables, which are written as they occur in it: "c" or "x[i]".

    Raises
    ------
    ProofError
        If a term carries an index that its variable does not and that the text uses for something else.

    Examples
    --------
    >>> substituted("sum[i](c*x[i]) <= c", {"c": "d[j]", "x[i]": "y[i] - z[i,j]"})
    'sum[i](d[j] * (y[i] - z[i, j])) <= d[j]'
    """
    return _substituted(text, tuple((str(name), str(term)) for name, term in values.items()))


@read_once
def _substituted(text: str, values: tuple[tuple[str, str], ...]) -> str:
    terms = {as_written(name): tree_of(term) for name, term in values}
    used = letters(text)
    for name, term in terms.items():
        if captured := (_unbound(term) - letters(name)) & used:
            raise ProofError(
                f"the term for {name} carries the index {min(captured)!r}, which {text!r} uses itself; "
                "take another letter there"
            )
    return ast.unparse(_Substitution(terms).visit(tree_of(text)))


@read_once
def as_written(text: str) -> str:
    """The text as Python writes it: of one expression there is one text."""
    return ast.unparse(tree_of(text))


def tree_of(text: str) -> ast.expr:
    """The text as a tree, in which decimals are fractions; raises ProofError if it is none."""
    return _Decimals().visit(parsed(text))


class _Decimals(ast.NodeTransformer):
    """Decimals as they are written become fractions, which all texts keep."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float):
            return node
        value = Fraction(node.kind or "")
        return ast.BinOp(ast.Constant(value.numerator), ast.Div(), ast.Constant(value.denominator))


def _subscripts(node: ast.Subscript) -> list[str]:
    """Letters of ``x[i]`` or ``x[i,j]``, or of the word ``sum``."""
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    found = [part.id for part in inner if isinstance(part, ast.Name) and INDEX.fullmatch(part.id)]
    if not isinstance(node.value, ast.Name) or len(found) != len(inner) or len(set(found)) < len(found):
        raise ProofError(
            f"{ast.unparse(node)!r}: an index is a small letter, as in x[i], x[i,j] and sum[i](x[i])"
        )
    return found


def _sum_parts(node: ast.Call) -> tuple[list[str], ast.expr]:
    """Indices and summand of ``sum[i](...)``."""
    head = node.func
    alone = len(node.args) == 1 and not node.keywords
    if alone and isinstance(head, ast.Subscript) and ast.unparse(head.value) == "sum":
        return _subscripts(head), node.args[0]
    raise ProofError(f"{ast.unparse(node)!r}: a sum is written sum[i](x[i]*a[i])")


def _unbound(node: ast.AST) -> set[str]:
    """Letters in a text as it is written that no sum binds."""
    if isinstance(node, ast.Call):
        indices, inner = _sum_parts(node)
        return _unbound(inner) - set(indices)
    if isinstance(node, ast.Subscript):
        return set(_subscripts(node))
    return set().union(*(_unbound(child) for child in ast.iter_child_nodes(node)))


def _checked(name: str) -> str:
    if not NAME.fullmatch(name) or name == "sum":
        raise ProofError(f"beside sums a variable is called by letters and digits, not {name!r}")
    return name


class _Plain(ast.NodeTransformer):
    """Members and sums become plain variables."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(_checked(node.id))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        indices = _subscripts(node)
        return ast.Name("_".join([_checked(ast.unparse(node.value)), *indices]))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        indices, inner = _sum_parts(node)
        p = polynomial(ast.unparse(self.visit(inner)))
        for index in sorted(indices):  # one order for all: with three letters the form depends on it
            p = summed(p, index)
        return tree_of(str(p))


class _Instance(ast.NodeTransformer):
    """Sets have so many elements: sums are written out, and letters have values."""

    def __init__(self, values: Mapping[str, int], size: int) -> None:
        self.values, self.size = values, size

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        numbers = [f"{index}{self.values[index]}" for index in _subscripts(node)]
        return ast.Name("_".join([ast.unparse(node.value), *numbers]))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        indices, inner = _sum_parts(node)
        total: ast.expr | None = None
        for choice in product(range(1, self.size + 1), repeat=len(indices)):
            values = {**self.values, **dict(zip(indices, choice, strict=True))}
            summand = _Instance(values, self.size).visit(copy.deepcopy(inner))
            total = summand if total is None else ast.BinOp(total, ast.Add(), summand)
        return ast.Constant(0) if total is None else total


class _Substitution(ast.NodeTransformer):
    """Variables become terms; the letters of sums stay."""

    def __init__(self, terms: Mapping[str, ast.expr]) -> None:
        self.terms = terms

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.terms.get(node.id, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self.terms.get(ast.unparse(node), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Call(node.func, [self.visit(_sum_parts(node)[1])], [])


# Plain variables: x_i_j is a member; sum_i_j__q_j__u_i_j_2 the sum over i and j of q[j]*u[i,j]**2, where a
# factor that is a sum itself stands between L and R.


def _indices(name: str) -> frozenset[str]:
    """Letters of a plain variable that are not bound in it."""
    if not name.startswith("sum_"):
        return frozenset(name.split("_")[1:])
    bound, factors = summand_of(name)
    return frozenset().union(*(_indices(factor) for factor, _ in factors)) - bound


def summand_of(name: str) -> tuple[frozenset[str], Monomial]:
    """Indices and summand of the variable that stands for a sum."""
    head, *tokens = name.split("__")
    factors, depth, nested = [], 0, []
    for token in tokens:
        base, _, last = token.rpartition("_")
        base, exponent = (base, int(last)) if base and last.isdigit() else (token, 1)
        depth += (token == "L") - (base == "R")
        if depth or base == "R":
            nested.append(token)
            if not depth:
                factors.append(("__".join(nested[1:-1]), exponent))
                nested = []
        else:
            factors.append((base, exponent))
    return frozenset(head.split("_")[1:]), tuple(factors)


def _sum_of(index: str, inner: Monomial) -> str:
    """The variable for the sum over an index of a monomial in which all factors carry it."""
    bound, factors = frozenset(index), list(inner)
    sums = [name for name, e in inner if name.startswith("sum_") and e == 1]
    if len(sums) == 1:
        others = [factor for factor in inner if factor[0] != sums[0]]
        earlier, within = summand_of(sums[0])
        # The sum of q[j] times a sum over i is one over i and j, where q[j] knows no i.
        if not earlier & bound.union(*(_indices(name) for name, _ in others)):
            bound, factors = bound | earlier, [*others, *within]
    words = []
    for name, e in sorted(factors):
        wrapped = f"L__{name}__R" if name.startswith("sum_") else name
        words.append(wrapped if e == 1 else f"{wrapped}_{e}")
    return "__".join(["_".join(["sum", *sorted(bound)]), *words])

"""Sequences in the texts of an induction: members s[n], s[n+1] and the first one become plain variables.

Numbers begin at a first one; they have no end, or a last one, which has a name: then ``s[N]`` is the last
member. What mentions ``n + 1`` is meant for every step from a number to the next, all else for every number.

In chains (:func:`as_families`) members are those of families over the numbers: ``sNext[n]`` for s[n+1],
``sFirst`` and ``sLast``, and ``Number[n]`` is the number itself. There sequences may be families, as in
``s[i,n]``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from proofs.errors import ProofError
from proofs.language.polynomials import read_once
from proofs.language.sums import plain_relation, tree_of

__all__ = [
    "TAKEN",
    "as_families",
    "at_first",
    "at_last",
    "at_next",
    "at_number",
    "at_step",
    "depends_on_next",
    "looks_ahead",
    "mentions_next",
    "shifted",
]

TAKEN = re.compile(r"\w*(Next|First|Last)|Number")
"""Names that stand for members in chains."""


def at_number(
    text: str, number: int, first: int, last: tuple[str, int] | str = "", *, families: bool = False
) -> str:
    """The text at one of the numbers; ``last`` is the name of the last one, or name and value.

    With ``families`` sequences may be those of the elements of sets, as in chains.

    Examples
    --------
    >>> at_number("s[n+1] <= s[0] + n*d", 7, 0)
    's_8 <= s_0 + 7 * d'
    >>> at_number("s[n] <= s[N] + N - n", 7, 0, ("N", 9))
    's_7 <= s_9 + 9 - 7'
    """
    members = {"n": str(number), "n + 1": str(number + 1), str(first): str(first)}
    values: dict[str, ast.expr] = {"n": ast.Constant(number)}
    if isinstance(last, tuple):
        members[last[0]], values[last[0]] = str(last[1]), ast.Constant(last[1])
    elif last:
        members[last] = "last"
    return ast.unparse((_AtWithFamilies if families else _At)(values, members).visit(tree_of(text)))


def at_step(text: str, first: int, last: str = "") -> str:
    """The text at a number n.

    Examples
    --------
    >>> at_step("s[n+1] <= s[0] + n*d", 0)
    's_next <= s_0 + n * d'
    """
    members = {"n": "n", "n + 1": "next", str(first): str(first), last: "last"}
    return ast.unparse(_At({}, members).visit(tree_of(text)))


def at_next(text: str, first: int, last: str = "") -> str:
    """The text, which does not look ahead, at n + 1.

    Raises
    ------
    ProofError
        If it mentions a member of index n + 1.

    Examples
    --------
    >>> at_next("s[n] <= n*d", 0)
    's_next <= (n + 1) * d'
    """
    later = ast.BinOp(ast.Name("n"), ast.Add(), ast.Constant(1))
    members = {"n": "next", str(first): str(first), last: "last"}
    return ast.unparse(_At({"n": later}, members).visit(tree_of(text)))


def looks_ahead(text: str) -> bool:
    """Whether a text mentions a member of index n + 1."""
    nodes = [node for node in ast.walk(tree_of(text)) if isinstance(node, ast.Subscript)]
    return any("n + 1" in map(ast.unparse, _places(node)) for node in nodes)


class _At(ast.NodeTransformer):
    """n and the last number get values, and members get the names of variables."""

    def __init__(self, values: dict[str, ast.expr], members: dict[str, str]) -> None:
        self.values, self.members = values, members

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if "_" in node.id:
            raise ProofError(f"beside sequences a variable is called by letters and digits, not {node.id!r}")
        return self.values.get(node.id, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node.value) == "sum":
            raise ProofError(
                f"an induction holds no sums; got {ast.unparse(node)}: an index has another letter than n"
            )
        member = self.members.get(ast.unparse(node.slice))
        if member is None or not isinstance(node.value, ast.Name) or "_" in node.value.id:
            known = ", ".join(f"s[{index}]" for index in self.members if index)
            raise ProofError(f"members of a sequence are {known} here; got {ast.unparse(node)}")
        return ast.Name(f"{node.value.id}_{member}")


class _AtWithFamilies(_At):
    """The same for texts of chains, where other indices stay."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Call(node.func, [self.visit(part) for part in node.args], node.keywords)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        places = _places(node)
        at = [k for k, place in enumerate(places) if ast.unparse(place) in self.members]
        if not at:
            return node
        _refuse_before(node, at, places)
        letters = [place for k, place in enumerate(places) if k != at[0]]
        return _member(f"{ast.unparse(node.value)}_{self.members[ast.unparse(places[at[0]])]}", letters)


def as_families(text: str, first: int, last: str = "") -> str:
    """The text of a chain over numbers, in which members of sequences are those of families.

    Raises
    ------
    ProofError
        If a sum is over the numbers, or a name is one of those that stand for members.

    Examples
    --------
    >>> as_families("s[i,n+1] <= s[i,0] + n*d", 0)
    'sNext[i, n] <= sFirst[i] + Number[n] * d'
    """
    return _as_families(text, first, last)


@read_once
def _as_families(text: str, first: int, last: str) -> str:
    members = {"n": ("", True), "n + 1": ("Next", True), str(first): ("First", False), last: ("Last", False)}
    return ast.unparse(_AsFamilies(members).visit(tree_of(text)))


AHEAD = re.compile(r"(\w+)Next\b")


def mentions_next(text: str) -> bool:
    """Whether a text of a chain, see :func:`as_families`, mentions a member of index n + 1."""
    return AHEAD.search(text) is not None


def depends_on_next(text: str, first: int, last: str = "") -> bool:
    """Whether a member of index n + 1 is left when both sides are multiplied out.

    Examples
    --------
    >>> depends_on_next("s[n+1] >= s[n]", 0), depends_on_next("s[n] + s[n+1] - s[n+1] >= 0", 0)
    (True, False)
    """
    told = as_families(text, first, last)
    # Under other names a relation is another one, unless none of them is left.
    return plain_relation(told) != plain_relation(AHEAD.sub(r"\1Later", told))


def _places(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _refuse_before(node: ast.Subscript, at: list[int], places: list[ast.expr]) -> None:
    if at != [len(places) - 1]:
        raise ProofError(
            f"{ast.unparse(node)}: the number of a member stands in the last place, as in s[i,n]"
        )


def _member(name: str, letters: list[ast.expr]) -> ast.expr:
    if not letters:
        return ast.Name(name)
    return ast.Subscript(ast.Name(name), letters[0] if len(letters) == 1 else ast.Tuple(letters))


class _AsFamilies(ast.NodeTransformer):
    def __init__(self, members: dict[str, tuple[str, bool]]) -> None:
        self.members = members

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if TAKEN.fullmatch(node.id):
            raise ProofError(f"{node.id!r} stands for a member of a sequence; take another name")
        return _member("Number", [node]) if node.id == "n" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Subscript) and "n" in map(ast.unparse, _places(node.func)):
            raise ProofError(f"{ast.unparse(node)}: n is a number of the sequence, and no sum is over it")
        return ast.Call(node.func, [self.visit(part) for part in node.args], node.keywords)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        name, places = ast.unparse(node.value), _places(node)
        self.visit_Name(ast.Name(name))
        at = [k for k, place in enumerate(places) if ast.unparse(place) in self.members]
        if not at or name == "n":
            return node
        _refuse_before(node, at, places)
        end, indexed = self.members[ast.unparse(places[at[0]])]
        letters = [place for k, place in enumerate(places) if k != at[0]]
        return _member(f"{name}{end}", [*letters, ast.Name("n")] if indexed else letters)


@read_once
def shifted(text: str) -> str:
    """The text of a chain, which does not look ahead, at the next number.

    Examples
    --------
    >>> shifted("s[i, n] <= sFirst[i] + Number[n]")
    'sNext[i, n] <= sFirst[i] + (Number[n] + 1)'
    """
    ahead = ast.BinOp(_member("Number", [ast.Name("n")]), ast.Add(), ast.Constant(1))
    return _moved(text, ahead, lambda name, letters: _member(f"{name}Next", letters))


@read_once
def at_first(text: str, first: int) -> str:
    """The text of a chain, which does not look ahead, at the first number."""
    return _moved(text, ast.Constant(first), lambda name, letters: _member(f"{name}First", _others(letters)))


@read_once
def at_last(text: str, last: str) -> str:
    """The text of a chain, which does not look ahead, at the last number.

    Examples
    --------
    >>> at_last("s[i, n] <= sFirst[i] + Number[n]", "N")
    'sLast[i] <= sFirst[i] + N'
    """
    return _moved(text, ast.Name(last), lambda name, letters: _member(f"{name}Last", _others(letters)))


def _others(letters: list[ast.expr]) -> list[ast.expr]:
    return [letter for letter in letters if ast.unparse(letter) != "n"]


def _moved(text: str, number: ast.expr, member: Callable[[str, list[ast.expr]], ast.expr]) -> str:
    class Move(ast.NodeTransformer):
        def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
            name, places = ast.unparse(node.value), _places(node)
            if name == "sum" or "n" not in map(ast.unparse, places):
                return node
            return number if name == "Number" else member(name, places)

    return ast.unparse(Move().visit(tree_of(text)))

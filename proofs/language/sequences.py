"""Sequences in the texts of an induction: members s[n], s[n+1] and the first one become plain variables."""

from __future__ import annotations

import ast

from proofs.errors import ProofError
from proofs.language.sums import tree_of

__all__ = ["at_next", "at_number", "at_step"]


def at_number(text: str, number: int, first: int) -> str:
    """The text at one of the numbers.

    Examples
    --------
    >>> at_number("s[n+1] <= s[0] + n*d", 7, 0)
    's_8 <= s_0 + 7 * d'
    """
    return ast.unparse(_At(ast.Constant(number), str(number), str(number + 1), first).visit(tree_of(text)))


def at_step(text: str, first: int) -> str:
    """The text at a number n.

    Examples
    --------
    >>> at_step("s[n+1] <= s[0] + n*d", 0)
    's_next <= s_0 + n * d'
    """
    return ast.unparse(_At(ast.Name("n"), "n", "next", first).visit(tree_of(text)))


def at_next(text: str, first: int) -> str:
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
    return ast.unparse(_At(later, "next", None, first).visit(tree_of(text)))


class _At(ast.NodeTransformer):
    """n gets a value, and members get the names of variables."""

    def __init__(self, n: ast.expr, here: str, ahead: str | None, first: int) -> None:
        self.n, self.members = n, {"n": here, "n + 1": ahead, str(first): str(first)}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if "_" in node.id:
            raise ProofError(f"beside sequences a variable is called by letters and digits, not {node.id!r}")
        return self.n if node.id == "n" else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node.value) == "sum":
            raise ProofError(
                f"an induction holds no sums; got {ast.unparse(node)}: an index has another letter than n"
            )
        member = self.members.get(ast.unparse(node.slice))
        if member is None or not isinstance(node.value, ast.Name) or "_" in node.value.id:
            known = ", ".join(f"s[{index}]" for index, name in self.members.items() if name)
            raise ProofError(f"members of a sequence are {known} here; got {ast.unparse(node)}")
        return ast.Name(f"{node.value.id}_{member}")

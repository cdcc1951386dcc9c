r"""What a statement says, read from the docstring of the function of its steps.

It is written as a theorem stands above its proof::

    '''Twice the pool suffices.

    .. math:: x a \le 2

    Hypotheses
        demand*: a > 0
        capacity*: the tasks fit
        weight, units
    Place: page 1
    Scope: all a, x
    Remark: what a reader should know, and more of it
    Reading: why the model has these hypotheses, and what follows from the conclusion, if said in words

    Proof
        The steps, as :mod:`proofs.catalogue.proof_texts` reads them.
    '''

The words are the first paragraph. Everything else stands at the margin, in any order, and is continued by
indented lines. A star marks the hypotheses without which the statement is false or open; those without a text
of their own are known to the chapter under their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from textwrap import dedent
from typing import Any

from proofs.errors import ProofError

__all__ = ["conditions", "declared", "hypotheses_in"]

PARTS = (".. math:", "Place", "Scope", "Case", "Remark", "Reading")
"""What stands at the margin beside the hypotheses."""


def declared(docstring: str | None, known: Mapping[str, str]) -> dict[str, Any]:
    """Words, formula, hypotheses, mutants and so on of a statement, by the names that a chapter gives them.

    Raises
    ------
    ProofError
        If there is no docstring (python -OO drops them), or a part or a hypothesis is not known.
    """
    if not docstring:
        raise ProofError(
            "a statement says what it says in the docstring of its steps, and this one has none; python -OO "
            "leaves docstrings out, so run without it"
        )
    words, _, rest = cleandoc(docstring).partition("\n\n")
    told: dict[str, Any] = {"words": " ".join(words.split())}
    for head, more in _entries(rest):
        if head == "Hypotheses":
            told |= conditions(more, known)
            continue
        if head == "Proof":
            told["proof"] = more
            continue
        part, _, text = head.partition(": ")
        if part not in PARTS:
            raise ProofError(
                f"a statement has no part {part!r}; its parts: Hypotheses, {', '.join(PARTS)}, Proof"
            )
        told["latex" if part == ".. math:" else part.lower()] = _joined(text, more)
    return told


def conditions(text: str, known: Mapping[str, str]) -> dict[str, Any]:
    """The hypotheses by name, and as mutants those that have a star."""
    texts: dict[str, str] = {}
    starred: list[str] = []
    for head, more in _entries(dedent(text)):
        names, colon, words = head.partition(": ")
        for marked in [names] if colon else head.split(", "):
            name = marked.removesuffix("*")
            if not colon and name not in known:
                raise ProofError(f"the chapter knows no hypothesis {name!r}; write it as name: text")
            texts[name] = _joined(words, more) if colon else known[name]
            starred += [name] if name != marked else []
    return {"hypotheses": texts, "mutants": tuple(starred)}


def hypotheses_in(docstring: str) -> dict[str, str]:
    """The hypotheses that the docstring of a module has, as those of statements."""
    told: dict[str, str] = conditions(dict(_entries(cleandoc(docstring)))["Hypotheses"], {})["hypotheses"]
    return told


def _entries(text: str) -> list[tuple[str, str]]:
    """Lines at the margin, each with the indented ones that follow it."""
    found: list[list[str]] = []
    for line in filter(str.strip, text.splitlines()):
        if line.startswith(" "):
            found[-1].append(line)
        else:
            found.append([line])
    return [(head, dedent("\n".join(more))) for head, *more in found]


def _joined(text: str, more: str) -> str:
    return " ".join([text, *more.split()])

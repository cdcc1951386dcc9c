"""The statements of the papers, as data: no prover is needed to read them."""

from __future__ import annotations

import importlib
from functools import cache

from proofs.errors import ProofError
from proofs.statement import Statement, reread

__all__ = ["PAPERS", "as_read", "statement_named", "statements", "statements_of"]

PAPERS: dict[str, tuple[str, ...]] = {
    "Bonald and Roberts: resource sharing in data centers": (
        "bonald_roberts.model",
        "bonald_roberts.properties",
        "bonald_roberts.allocations",
        "bonald_roberts.bottleneck",
        "bonald_roberts.uniqueness",
        "bonald_roberts.optimum",
        "bonald_roberts.examples",
        "bonald_roberts.queues",
        "bonald_roberts.durations",
        "bonald_roberts.stability",
        "bonald_roberts.drifts",
        "bonald_roberts.enclosures",
    ),
    "PS-DSF": (
        "psdsf.theorems",
        "psdsf.fairness",
        "psdsf.market",
        "psdsf.lies",
        "psdsf.algorithm",
        "psdsf.examples",
        "psdsf.cpu_use",
        "psdsf.counterexamples",
        "psdsf.table",
    ),
    "DRF": ("drf.examples", "drf.mechanism", "drf.table"),
    "TDRF": ("tdrf.mechanism", "tdrf.claims"),
    "EDRF and whole bundles": ("edrf.mechanism", "edrf.bundles"),
    "DC-DRF": ("dcdrf.baseline", "dcdrf.approximation", "dcdrf.rounds"),
}
"""Modules by paper; each has a Chapter called STATEMENTS."""


@cache
def statements() -> tuple[Statement, ...]:
    """All statements, in the order of their papers.

    Raises
    ------
    ProofError
        If two have the same id.
    """
    found: dict[str, Statement] = {}
    for statement in (s for paper in PAPERS for s in statements_of(paper)):
        if statement.id in found:
            raise ProofError(f"two statements are called {statement.id!r}")
        found[statement.id] = statement
        _AS_READ[statement.id] = reread(statement)
    return tuple(found.values())


_AS_READ: dict[str, Statement] = {}
"""By id, copies that nobody else has: what people have read, whatever became of the statements since."""


def as_read(statement: Statement) -> bool:
    """Whether a statement that was read anew is one of the catalogue, whose words people have read.

    Raises
    ------
    ProofError
        If one of the catalogue has its id, and it is another.
    """
    statements()
    known = _AS_READ.get(statement.id)
    if known is not None and (statement.steps is not known.steps or statement != known):
        raise ProofError(f"{statement.id!r} is a statement of the catalogue; give yours another id")
    return known is not None


def statements_of(paper: str) -> tuple[Statement, ...]:
    """Statements on one paper, a key of :data:`PAPERS`, in its order."""
    modules = (importlib.import_module(f"proofs.catalogue.{name}") for name in PAPERS[paper])
    return tuple(statement for module in modules for statement in module.STATEMENTS)


def statement_named(name: str) -> Statement:
    """The statement with that id.

    Raises
    ------
    ProofError
        If there is none; the message lists the nearest.
    """
    known = {s.id: s for s in statements()}
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(name, known, 3) or sorted(known)[:3]
        raise ProofError(
            f"no statement is called {name!r}; near: {', '.join(near)}; python -m proofs lists all"
        )
    return known[name]

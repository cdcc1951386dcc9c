"""A chapter: statements on one source in its order, each the docstring of the function of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from proofs.catalogue.declarations import conditions, declared, hypotheses_in
from proofs.catalogue.proof_texts import Proof, Steps, proved
from proofs.claims import Counterexample, Step
from proofs.statement import Question, Statement

__all__ = ["Chapter"]

Witness = Callable[[], Counterexample]


class Chapter:
    """Statements on one source.

    Parameters
    ----------
    source : str
    place, scope : str
        Those of statements that name none.
    known : dict of str to str, or str
        Hypotheses that statements name without saying them again; or a docstring of the module that has them
        as a statement has its own.
    """

    def __init__(
        self, source: str, place: str = "", scope: str = "", known: Mapping[str, str] | str | None = None
    ) -> None:
        self.source = source
        self.usual: dict[str, Any] = {"place": place, "scope": scope, "hypotheses": {}}
        self.known: Mapping[str, str] = hypotheses_in(known) if isinstance(known, str) else known or {}
        self.statements: list[Statement] = []

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __getitem__(self, id: str) -> Statement:
        """The statement of that id."""
        return next(statement for statement in self.statements if statement.id == id)

    def add(self, id: str, **parts: Any) -> Callable[[Steps], Proof]:
        """Add the :class:`proofs.Statement` that the decorated function of a question settles.

        What it says stands in the function's docstring (:func:`proofs.catalogue.declarations.declared`) and
        in ``parts``, the arguments of a statement by name; with ``words`` here, all of it. The docstring has
        the proof, too, or as much of it as the function does not yield; all steps are given back.
        """

        def decorate(steps: Steps) -> Proof:
            told = self._told(steps, parts)
            proof = proved(told.pop("proof", ""), steps)
            self._append(id, told, proof)
            return proof

        return decorate

    def refute(self, id: str, **parts: Any) -> Callable[[Witness], Witness]:
        """Add a statement without hypotheses that one case refutes, the counterexample that is returned.

        It is told as in :meth:`add`, and the case as its part "Case".
        """

        def decorate(witness: Witness) -> Witness:
            told = self._told(witness, parts)
            case = told.pop("case")
            self._append(id, told, lambda question: [Step(case, witness())])
            return witness

        return decorate

    def _told(self, function: Callable[..., Any], parts: dict[str, Any]) -> dict[str, Any]:
        """What a statement says, by the names of its arguments."""
        told = parts if "words" in parts else declared(function.__doc__, self.known) | parts
        if isinstance(text := told.get("hypotheses"), str):
            told |= conditions(text, self.known)
        return self.usual | told

    def _append(self, id: str, told: dict[str, Any], steps: Callable[[Question], Iterable[Step]]) -> None:
        self.statements.append(Statement(id=id, source=self.source, steps=steps, **told))

"""A chapter: statements on one source in its order, each written above the function of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from proofs.claims import Counterexample, Step
from proofs.statement import Question, Said, Size, Statement

__all__ = ["Chapter"]

Steps = Callable[[Question], Iterable[Step]]


class Chapter:
    """Statements on one source; those that name no place or scope have that of the chapter."""

    def __init__(self, source: str, place: str = "", scope: str = "") -> None:
        self.source = source
        self.place = place
        self.scope = scope
        self.statements: list[Statement] = []

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def add(
        self,
        id: str,
        *,
        place: str = "",
        words: str,
        latex: str,
        scope: str = "",
        hypotheses: Mapping[str, str] | None = None,
        sizes: Mapping[str, Size] | None = None,
        mutants: tuple[str, ...] = (),
        remark: str = "",
        said: Said = Said.CLAIMED,
    ) -> Callable[[Steps], Steps]:
        """Add the :class:`proofs.Statement` that the decorated function of a question settles."""

        def decorate(steps: Steps) -> Steps:
            self.statements.append(
                Statement(
                    id=id,
                    source=self.source,
                    place=place or self.place,
                    words=words,
                    latex=latex,
                    hypotheses=hypotheses or {},
                    scope=scope or self.scope,
                    steps=steps,
                    sizes=sizes or {},
                    mutants=mutants,
                    remark=remark,
                    said=said,
                )
            )
            return steps

        return decorate

    def refute(
        self,
        id: str,
        *,
        place: str = "",
        words: str,
        latex: str,
        case: str,
        witness: Counterexample,
        scope: str = "",
        remark: str = "",
        said: Said = Said.CLAIMED,
    ) -> None:
        """Add a statement without hypotheses that one case, told in words, refutes."""
        self.add(id, place=place, words=words, latex=latex, scope=scope, remark=remark, said=said)(
            lambda question: [Step(case, witness)]
        )

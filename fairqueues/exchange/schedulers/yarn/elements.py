"""XML with places, by the parser of the standard library; whatever declares a document type is refused.

Entities are declared there, and a few lines of them unfold to billions of characters or name files of the
reader's machine; the files of YARN need none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from fairness.errors import ModelError

__all__ = ["Element", "xml_root"]

_DEEPEST = 60


@dataclass
class Element:
    """An element with its attributes, its text, the elements in it, and where it stands."""

    file: str
    line: int
    tag: str
    attributes: dict[str, str]
    text: str = ""
    elements: list[Element] = field(default_factory=list)

    @property
    def place(self) -> str:
        """File, line and element, as messages begin."""
        name = self.attributes.get("name")
        return f"{self.file}, line {self.line}, <{self.tag}{f' name={name!r}' if name else ''}>"

    def fail(self, said: str) -> NoReturn:
        """ModelError that names file, line and element."""
        raise ModelError(f"{self.place}: {said}", argument=self.tag)

    def named(self, *tags: str) -> Iterator[Element]:
        """The elements in it with one of these tags."""
        return (one for one in self.elements if one.tag in tags)

    def only(self, tag: str) -> Element | None:
        """The element in it with this tag; an error if there are two."""
        found = list(self.named(tag))
        if len(found) > 1:
            found[1].fail("is there twice; keep one of them")
        return found[0] if found else None


def xml_root(text: str, file: str) -> Element:
    """The root of an XML text.

    Raises
    ------
    ModelError
        If it is no XML, is nested too deeply or declares a document type.
    """
    parser = expat.ParserCreate()
    root = Element(file, 1, "", {})
    open_elements = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > _DEEPEST:
            raise ModelError(f"{file}, line {parser.CurrentLineNumber}: nested too deeply")
        one = Element(file, parser.CurrentLineNumber, tag, attributes)
        open_elements[-1].elements.append(one)
        open_elements.append(one)

    def end(tag: str) -> None:
        one = open_elements.pop()
        one.text = one.text.strip()

    def characters(data: str) -> None:
        open_elements[-1].text += data

    def declared(*arguments: Any) -> None:
        raise ModelError(
            f"{file}, line {parser.CurrentLineNumber}: a document type (<!DOCTYPE ...>) is refused, as it "
            "may declare entities; take it out"
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = declared
    parser.buffer_text = True
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        raise ModelError(f"{file}, line {error.lineno}: no XML: {expat.ErrorString(error.code)}") from None
    return root.elements[0]

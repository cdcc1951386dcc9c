"""What a table of a scenario file is, and what its keys may hold, which are also JSON schemas.

A key is declared with its type, its default and the sentence that says what it is; numbers, names and
specifications are the types of this module.

Numbers are integers, floats or fractions written as text, ``"1/3"``; all finite, except limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from operator import ge, gt, lt
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic_core import PydanticCustomError, core_schema

from fairness.display.lettering import unprintable

__all__ = [
    "Bound",
    "Count",
    "Flag",
    "LawSpec",
    "Limit",
    "Link",
    "Matrix",
    "Name",
    "NotNegative",
    "Number",
    "Part",
    "PartOrZero",
    "PlacementSpec",
    "Policy",
    "Positive",
    "Repeats",
    "Row",
    "SchedulerSpec",
    "Section",
    "Seed",
    "Several",
    "Words",
]


class Section(BaseModel):
    """A table of the file: no keys but its own.

    Attributes
    ----------
    needs : tuple of {"model", "traffic"}
        What else the scenario must have.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True
    )
    needs: ClassVar[tuple[str, ...]] = ()

    def check(self, scenario: Any) -> None:
        """Refuse what does not fit the rest of the scenario; what is checked can be computed with.

        Raises
        ------
        ScenarioError
        """


_FRACTION = r"^[+-]?[0-9]{1,100}/0*[1-9][0-9]{0,99}$"


@dataclass(frozen=True, eq=False)
class _Rule:
    """A value that ``check`` accepts (returning it, perhaps converted) or refuses by a ValueError."""

    rule: str
    check: Callable[[Any], Any]
    json: dict[str, Any]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        def validate(value: Any) -> Any:
            try:
                return self.check(value)
            except ValueError:
                raise PydanticCustomError("rule", "must be {rule}", {"rule": self.rule}) from None

        return core_schema.no_info_plain_validator_function(validate)

    def __get_pydantic_json_schema__(
        self, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.json)


def _shown(text: str) -> str:
    if unprintable(text.replace("\n", "").replace("\t", "")):
        raise PydanticCustomError("rule", "must be {rule}", {"rule": "text without control characters"})
    return text


Words = Annotated[str, AfterValidator(_shown)]


_BOUNDS = {"minimum": ge, "exclusiveMinimum": gt, "exclusiveMaximum": lt}


def _real(rule: str, *, infinite: bool = False, **bounds: float) -> _Rule:
    def check(value: Any) -> Any:
        if isinstance(value, str):
            if not re.match(_FRACTION, value):
                raise ValueError
            top, _, bottom = value.partition("/")
            value = Fraction(int(top), int(bottom))
        if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
            raise ValueError
        try:
            size = float(value)
        except OverflowError:
            raise ValueError from None
        if not (math.isfinite(size) or (infinite and size == math.inf)):
            raise ValueError
        if not all(_BOUNDS[name](value, bound) for name, bound in bounds.items()):
            raise ValueError
        return value

    text = {"type": "string", "pattern": _FRACTION}
    return _Rule(rule, check, {"anyOf": [{"type": "number", **bounds}, text]})


def _whole(rule: str, least: int, most: int | None = None) -> _Rule:
    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError
        if value < least or (most is not None and value > most):
            raise ValueError
        return value

    bounds = {"minimum": least} | ({} if most is None else {"maximum": most})
    return _Rule(rule, check, {"type": "integer", **bounds})


def _spec(key: str) -> _Rule:
    def check(value: Any) -> Any:
        if not isinstance(value, str) and not (isinstance(value, dict) and isinstance(value.get(key), str)):
            raise ValueError
        return value

    rule = f"a name in quotes, or a table {{ {key} = name, ... }}"
    table = {"type": "object", "required": [key], "properties": {key: {"type": "string"}}}
    return _Rule(rule, check, {"anyOf": [{"type": "string"}, table]})


def _link(value: Any) -> Any:
    if not (isinstance(value, list) and len(value) == 3 and all(isinstance(v, str) for v in value[:2])):
        raise ValueError
    return [*value[:2], _NOT_NEGATIVE.check(value[2])]


_NOT_NEGATIVE = _real("a finite number >= 0", minimum=0)

Number = Annotated[Any, _real("a finite number")]
NotNegative = Annotated[Any, _NOT_NEGATIVE]
Positive = Annotated[Any, _real("a finite number > 0", exclusiveMinimum=0)]
Limit = Annotated[Any, _real("a number > 0 (inf for no limit)", infinite=True, exclusiveMinimum=0)]
Bound = Annotated[Any, _real("a number >= 0 (inf for no bound)", infinite=True, minimum=0)]
Part = Annotated[Any, _real("a number > 0 and < 1", exclusiveMinimum=0, exclusiveMaximum=1)]
PartOrZero = Annotated[Any, _real("a number >= 0 and < 1", minimum=0, exclusiveMaximum=1)]
Count = Annotated[Any, _whole("a whole number >= 1", 1)]
Repeats = Annotated[Any, _whole("a whole number from 1 to 100000", 1, 100_000)]
Several = Annotated[Any, _whole("a whole number from 2 to 10000", 2, 10_000)]
Seed = Annotated[Any, _whole("a whole number >= 0", 0)]
Policy = Annotated[Any, _spec("policy")]
LawSpec = Annotated[Any, _spec("law")]
SchedulerSpec = Annotated[Any, _spec("scheduler")]
PlacementSpec = Annotated[Any, _spec("placement")]
Link = Annotated[
    Any,
    _Rule(
        'a link such as ["Paris", "Rome", 10]: two nodes in quotes and a capacity >= 0',
        _link,
        {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "string"}, {"type": "number", "minimum": 0}],
            "minItems": 3,
            "maxItems": 3,
        },
    ),
]
Name = Annotated[str, Field(strict=True, min_length=1)]
Flag = Annotated[bool, Field(strict=True)]
Row = Annotated[list[NotNegative], Field(min_length=1)]
Matrix = Annotated[list[Row], Field(min_length=1)]

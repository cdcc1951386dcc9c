"""Links to states: the query of a link, without the question mark, written and read.

Numbers are written as in the fields, rows with commas between them and semicolons between the classes, and
names one by one: ``demands=1,4;3,1&capacities=9,18&class=A&class=B``.
"""

from __future__ import annotations

from itertools import chain
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fairqueues.explorer.fields import DISTINCT, RULES, FieldErrors, field_tables, number_text

__all__ = ["SECTION", "link_of", "read_link"]

SECTION = (1, 2)
"""Classes whose loads the region shows, if nothing else is said."""

USUAL = {"load": "0.7", "reach": "10", "section": ",".join(map(str, SECTION))}
"""What a link means that leaves a part out; of all others it is 1."""

ROWS = ("capacities", "weights", "counts", "mix")

NAMES = {"class": "job_classes", "resource": "resources", "server": "servers"}
"""Parts that are repeated, and what they name."""

OTHERS = ("show", "policy", "rated", "section", "of")


def link_of(state: Any) -> str:
    """The query of a link to a state."""

    def row(values: Any) -> str:
        return ",".join(map(number_text, values))

    kinds = [*ROWS, *(["start"] if state.start else [])]
    pairs = [("demands", ";".join(map(row, state.demands)))]
    pairs += [(kind, row(getattr(state, kind))) for kind in kinds]
    pairs += [("load", number_text(state.load)), ("policy", state.policy)]
    pairs += [("reach", number_text(state.reach))] if state.start else []
    pairs += [(part, name) for part, named in NAMES.items() for name in getattr(state, named)]
    if not all(state.eligible):
        pairs.append(("eligible", row(state.eligible)))
    if state.section != SECTION:
        pairs.append(("section", row(state.section)))
    # A link without policies is one from before they could be chosen; one without any says so.
    pairs += [("show", name) for name in state.shown or ("",)]
    pairs += [("rated", str(state.rated))] if state.rated else []
    pairs += [("of", state.origin)] if state.origin else []
    return urlencode(pairs, safe=",;/")


def read_link(query: str) -> dict[str, Any]:
    """What a link says, as arguments of :meth:`State.from_texts`.

    Raises
    ------
    FieldErrors
        If a part is unknown or has another number of entries than there are classes or resources.
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    given = dict(pairs)
    for part in given:
        if part not in (*RULES, *NAMES, *OTHERS):
            raise FieldErrors({"form": f"the link has an unknown part {part[:30]!r}"})
    if "demands" not in given:
        raise FieldErrors({"form": "the link has no demands"})
    named = {told: [v for k, v in pairs if k == part] for part, told in NAMES.items()}
    rows = [row.split(",") for row in given["demands"].split(";")]
    n, m = len(rows), len(rows[0])
    if any(len(row) != m for row in rows):
        raise FieldErrors({"form": "the rows of demands in the link differ in length"})
    texts: dict[str, str] = {}
    for kind, fields in field_tables(n, m, len(named["servers"])).items():
        names = list(chain.from_iterable(fields))
        entries = [USUAL.get(kind, "1")] * len(names)
        if kind == "demands":
            entries = list(chain.from_iterable(rows))
        elif kind in given and (names or kind == "eligible"):  # a start means nothing where none is drawn
            entries = given[kind].split(",")
        if len(entries) != len(names):
            said = f"{kind} in the link has {len(entries)} entries; expected {len(names)}"
            raise FieldErrors({"form": said})
        texts |= zip(names, entries, strict=True)
    classes = named["job_classes"] or [f"class {i + 1}" for i in range(n)]
    resources = named["resources"] or [f"resource {j + 1}" for j in range(m)]
    if (len(classes), len(resources)) != (n, m):
        raise FieldErrors({"form": "the link names another number of classes or resources than it has"})
    return {
        "texts": texts,
        "policy": given.get("policy"),
        "job_classes": classes,
        "resources": resources,
        "shown": [v for k, v in pairs if k == "show" and v] if "show" in given else None,
        "rated": _numbers(given, "rated", "1" if n > DISTINCT else "0")[0],
        "servers": named["servers"],
        "section": _numbers(given, "section", USUAL["section"]),
        "origin": given.get("of", ""),
    }


def _numbers(given: dict[str, str], part: str, usual: str) -> tuple[int, ...]:
    """Numbers of classes."""
    words = given.get(part, usual).split(",")
    if not all(word.isascii() and word.isdigit() for word in words):
        raise FieldErrors({part: f"must be the number of a class; got {given[part][:20]!r}"})
    return tuple(int(word[:9]) for word in words)

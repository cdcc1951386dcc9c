"""A page that sets a generated property table beside the one that a source prints."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import matplotlib.pyplot as plt

from examples.gallery import Check, Page, Table
from fairness.properties import AuditTable, describe, property_named

__all__ = ["property_page"]

Key = tuple[str, str]

_DOMAIN = {
    "positive": "Search for violations, all demands positive",
    "any": "Search for violations, demands may be zero",
}
_FILL = {"✗": "#f3c9b5", "✓": "#cfe8dc", "–": "0.93", "?": "0.85"}


def property_page(
    key: str,
    title: str,
    place: str,
    see: str,
    table: AuditTable,
    *,
    printed: Mapping[str, Mapping[str, bool]],
    disputed: Mapping[Key, str],
    decisive: bool = True,
) -> Page:
    """Page of an audit.

    Parameters
    ----------
    printed : mapping
        policy -> key of a property -> whether the source says that the policy has it.
    disputed : mapping
        (policy, property) -> why the printed mark does not hold; only for printed cells.
    decisive : bool
        Whether the budget is large enough to find every printed violation; else a violation that was not found
        counts neither way.
    """
    checks = []
    unsettled = set()
    marks = {
        (policy, property_named(key).name): has for policy, row in printed.items() for key, has in row.items()
    }
    for cell, has in marks.items():
        found = table.cells[cell]
        claim = "has it" if has else "lacks it"
        ours = _verdict(table, cell)
        # A violation counts if it is confirmed, whether it agrees with the source or refutes it.
        certain = not found.violated or bool(found.confirmation)
        statement = f"{cell[0]}: {cell[1]}"
        if not (found.violated or decisive) and (cell in disputed or not has):
            checks.append(Check(statement, claim, f"{ours} (short run)", None))
            unsettled.add(cell)
        elif cell in disputed:
            refuted = found.violated is has and certain
            checks.append(Check.refuted(statement, claim, ours, refuted, disputed[cell]))
        else:
            checks.append(Check(statement, claim, ours, found.violated is not has and certain))
    unsettled |= _implying(table, unsettled)
    checks += [
        Check(
            f"{policy}: {prop}",
            "-",
            _verdict(table, (policy, prop)) + " (short run)" * ((policy, prop) in unsettled),
            None,
        )
        for policy in table.policies
        for prop in table.properties
        if (policy, prop) not in marks and table.cells[policy, prop].applies
    ]
    found = {cell: result for cell, result in table.cells.items() if result.witness is not None}
    checks.append(
        Check(
            "violations confirmed in rational arithmetic by a second checker",
            f"all {len(found)}",
            str(sum(bool(result.confirmation) for result in found.values())),
            all(result.confirmation for result in found.values()),
        )
    )
    checks.append(
        Check(
            "implications between properties that the table breaks",
            "none",
            str(len(table.contradictions)),
            not table.contradictions,
        )
    )
    rows = [
        [policy, prop, describe(result.witness), result.confirmation]
        for (policy, prop), result in found.items()
        if result.witness is not None
    ]
    numbers = {
        f"{policy}: {prop}": {
            "mark": result.mark,
            "models": result.evaluated,
            "largest violation": result.best,
            "seconds": result.seconds,
        }
        for (policy, prop), result in table.cells.items()
    }
    return Page(
        key,
        title,
        place,
        see,
        _figure(table, unsettled),
        {"settings": table.settings, "cells": numbers},
        checks,
        [Table("Smallest witnesses found", ["policy", "property", "witness", "confirmed"], rows)],
    )


def _verdict(table: AuditTable, cell: Key) -> str:
    result = table.cells[cell]
    if not result.applies:
        return "not applicable"
    if result.witness is None:
        return f"no violation in {result.evaluated:,} models"
    return f"violated by {100 * float(result.witness.finding.violation):.3g} %"


def _implying(table: AuditTable, unsettled: Collection[Key]) -> set[Key]:
    """Cells without a witness whose property implies, maybe by others, one that is unsettled."""
    found: set[Key] = set()
    while True:
        more = {
            (policy, prop)
            for (policy, prop), result in table.cells.items()
            if result.applies
            and result.witness is None
            and any((policy, other) in found.union(unsettled) for other in property_named(prop).implies)
        } - found
        if not more:
            return found
        found |= more


def _figure(table: AuditTable, unsettled: Collection[Key]) -> plt.Figure:
    policies, properties = table.policies, table.properties
    size = (2.6 + 1.25 * len(policies), 1.2 + 0.42 * len(properties))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    for x, policy in enumerate(policies):
        for y, prop in enumerate(properties):
            result = table.cells[policy, prop]
            mark = "?" if (policy, prop) in unsettled else result.mark
            ax.add_patch(
                plt.Rectangle((x, y), 1, 1, facecolor=_FILL[mark[0]], edgecolor="white", linewidth=2)
            )
            note = f"{result.evaluated:,}" if result.applies and not result.violated else ""
            if result.witness is not None:
                note = f"{100 * float(result.witness.finding.violation):.2g} %"
            ax.text(x + 0.5, y + 0.36, mark, ha="center", va="center", fontsize=12)
            ax.text(x + 0.5, y + 0.76, note, ha="center", va="center", fontsize=7, color="0.35")
    ax.set_xticks([x + 0.5 for x in range(len(policies))], policies)
    ax.set_yticks([y + 0.5 for y in range(len(properties))], properties)
    ax.set(xlim=(0, len(policies)), ylim=(len(properties), 0))
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set_title(_DOMAIN[table.settings["domain"]])
    said = "✗ violated (relative size in the smallest witness)   ✓ no violation found (models asked)   – not applicable"
    if unsettled:
        said += "   ? violated, or implies what is; not found in so short a run"
    ax.set_xlabel(said, fontsize="small")
    return figure

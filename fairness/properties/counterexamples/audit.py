"""Audit tables: policies times properties, each cell a search for a counterexample.

A cell is ✗ with a witness, or ✓, which means "no violation in so many models" and never "proved". Each search
has its own random stream, keyed by the seed and the names of policy and property, so it does not depend on
the number of processes, on the order of the cells or on what else is in the table.

Implications tie cells together afterwards. If property P implies Q and a witness against Q is known, then P
fails as well; its checker is asked about the same witness, and only if it agrees does P take that witness,
where it has none or a larger one. A witness against P is shown to the checker of Q in the same way, and
counts if exact arithmetic confirms it: it need not be one, but a lie of a single class against group
strategy-proofness is one against strategy-proofness. What remains contradictory is listed, not hidden
(:attr:`AuditTable.contradictions`): it would be a mistake in a checker or in the claimed implication. A cell
is never filled by an implication unsearched.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairness.arguments.validation import generator, require_workers
from fairness.display.drawing import given_axes
from fairness.display.lettering import label
from fairness.display.notebook import notebook_html
from fairness.display.result import Result
from fairness.display.storage import dumps, loads
from fairness.errors import ModelError
from fairness.machine.backends import stream
from fairness.machine.bars import bar
from fairness.machine.checkpoint import Checkpoint
from fairness.properties.counterexamples.exploring import Answers, witness_size
from fairness.properties.counterexamples.result import SearchResult
from fairness.properties.counterexamples.search import check_budget, exact_verdict, search
from fairness.properties.counterexamples.sketches import check_domain
from fairness.properties.definitions.catalogue import PROPERTIES, property_named
from fairness.properties.protocol.property import Property, Witness, division_of, tree_of
from fairness.protocol.cluster_policy import AnyPolicy, ClusterPolicy
from fairness.protocol.policy import policy_name
from fairness.versions import version

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AuditTable", "audit"]

Key = tuple[str, str]

_FORMAT = 1
_LEGEND = "✗ violated, with a witness;  ✓ no violation found in the search;  – not applicable"


@dataclass(frozen=True, eq=False, repr=False)
class AuditTable(Result):
    """Which policy has which property, as far as a search can tell; made by :func:`audit`.

    Attributes
    ----------
    policies, properties : tuple of str
        Names, in the order of the table.
    cells : dict
        (policy, property) -> :class:`~fairness.properties.counterexamples.result.SearchResult`.
    settings : dict
        Budget, seed, domain and version: what the cells depend on.
    seconds : float
        Wall time of the audit; cells that were read from a file took none.
    contradictions : tuple of str
        Implications between properties that the cells break.
    """

    policies: tuple[str, ...]
    properties: tuple[str, ...]
    cells: dict[Key, SearchResult]
    settings: dict[str, Any]
    seconds: float = 0.0
    contradictions: tuple[str, ...] = ()

    @property
    def entropy(self) -> int:
        """The seed: ``rng=entropy`` repeats the audit."""
        return int(self.settings["seed"])

    @property
    def witnesses(self) -> dict[Key, Witness]:
        """The counterexamples, by (policy, property)."""
        return {key: cell.witness for key, cell in self.cells.items() if cell.witness is not None}

    def to_dataframe(self) -> pd.DataFrame:
        """Marks; properties are rows, policies columns."""
        rows = [[self.cells[policy, prop].mark for policy in self.policies] for prop in self.properties]
        index = pd.Index(self.properties, name="property")
        return pd.DataFrame(rows, index=index, columns=list(self.policies))

    def summary(self, *, details: bool = False) -> str:
        """Return the tables, one for pools and one for clusters; with details also every witness in words."""
        lines = []
        for models in ("pools", "clusters"):
            policies = [p for p in self.policies if self.cells[p, self.properties[0]].models == models]
            if policies:
                lines += [*self._grid(models, policies), ""]
        lines += self.legend()
        lines += [f"contradiction: {text}" for text in self.contradictions]
        if details:
            lines += [
                text
                for cell in self._in_order
                if cell.violated or cell.failures
                for text in ("", cell.summary())
            ]
        elif self.witnesses:
            lines.append("summary(details=True) tells the witnesses")
        return "\n".join(lines)

    @property
    def _in_order(self) -> list[SearchResult]:
        return [self.cells[policy, prop] for prop in self.properties for policy in self.policies]

    def legend(self) -> list[str]:
        """What the marks say, and what the search was, in lines of text."""
        cells = self._in_order
        searched = [cell.evaluated for cell in cells if cell.exhausted]
        span = ""
        if searched:
            ends = dict.fromkeys((min(searched), max(searched)))
            span = f"; a ✓ stands for {' to '.join(f'{end:,}' for end in ends)} models"
        lines = [_LEGEND + span]
        if any("?" in cell.mark for cell in cells):
            lines.append("? the violation is not confirmed in exact arithmetic")
        if any(cell.failures for cell in cells):
            lines.append("! the policy failed on some models, see below")
        told = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return [*lines, f"{told}; {self.seconds:.1f} s"]

    def _grid(self, models: str, policies: Sequence[str]) -> list[str]:
        stem = max(len(models), *map(len, self.properties))
        widths = [max(len(policy), 3) for policy in policies]
        head = "  ".join(p.center(w) for p, w in zip(policies, widths, strict=True))
        lines = [f"{models.ljust(stem)}  {head}".rstrip()]
        for prop in self.properties:
            marks = (self.cells[p, prop].mark.center(w) for p, w in zip(policies, widths, strict=True))
            lines.append(f"{prop.ljust(stem)}  {'  '.join(marks)}".rstrip())
        return lines

    def _repr_html_(self) -> str:
        lines = repr(self).splitlines()
        legend = next(k for k, line in enumerate(lines) if line.startswith(_LEGEND))
        heading = f"audit of {len(self.policies)} policies, {len(self.properties)} properties"
        return notebook_html(heading, self.to_dataframe(), lines[legend:])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The table: red where a witness was found, green where the search found none, grey elsewhere."""
        ax = given_axes(ax)
        for i, prop in enumerate(self.properties):
            for k, policy in enumerate(self.policies):
                cell = self.cells[policy, prop]
                shade = "#CC6677" if cell.violated else "#44AA99" if cell.exhausted else "0.85"
                ax.scatter([k], [i], marker="s", s=250, color=shade)
                ax.annotate(cell.mark, (k, i), ha="center", va="center")
        ax.set_xticks(range(len(self.policies)), [label(name) for name in self.policies], rotation=30)
        ax.set_yticks(range(len(self.properties)), list(self.properties))
        ends = {"xlim": (-0.7, len(self.policies) - 0.3), "ylim": (len(self.properties) - 0.3, -0.7)}
        ax.set(xlabel="policy", ylabel="property", **ends)
        return ax


def audit(
    policies: Iterable[AnyPolicy] | Mapping[str, AnyPolicy],
    properties: Iterable[Property | str] | None = None,
    *,
    budget: int = 2000,
    rng: np.random.Generator | int | None = 0,
    n_jobs: int = 1,
    domain: str = "positive",
    progress: bool = False,
    resume: str | os.PathLike[str] | None = None,
) -> AuditTable:
    """Search every policy for a violation of every property.

    Parameters
    ----------
    policies : iterable of policies, or dict
        Pool policies are audited on pools, cluster policies on clusters. A dict gives them names, which must
        differ otherwise.
    properties : iterable of Property or str, optional
        Properties, or their names or keys. Default: all; those that are about trees of queues only if a
        policy has one.
    budget : int
        Policy calls per cell, shrinking not counted.
    rng : int, numpy Generator or None
        Seed; of a generator one number is taken. None: that of the file to resume, or a fresh one.
    n_jobs : int
        Processes (joblib); -1 for all cores. The table does not depend on it.
    domain : {"positive", "any"}
        Whether demands may be zero. Most theorems assume that none is.
    progress : bool
        Show a bar on standard error, if that is a terminal.
    resume : path, optional
        File that takes each cell as it ends (:mod:`fairness.machine.checkpoint`); cells that it already has
        are not searched again. Cells are known by the names of policy and property: after a change of a
        policy of your own, use another file.

    Returns
    -------
    AuditTable

    Raises
    ------
    ModelError
        If a policy or a property is none or unknown; or if the file to resume belongs to other work, cannot
        be written or was edited, or was made with another budget, seed, domain or version.

    Examples
    --------
    >>> from fairness import DRF, AssetFair
    >>> audit([DRF(), AssetFair()], ["SI", "EF"], budget=200).to_dataframe()
                       DRF Asset
    property
    sharing incentive    ✓     ✗
    envy-freeness        ✓     ✓
    """
    asked = _named_policies(policies)
    trees = any(tree_of(policy) is not None for policy in asked.values())
    props = _named_properties(properties, trees)
    n_jobs = require_workers(n_jobs)
    source = generator(None) if rng is None else rng
    seed = int(source.integers(2**63)) if isinstance(source, np.random.Generator) else source
    if not _is_whole(seed) or seed < 0:
        raise ModelError.of("rng", f"must be a seed >= 0, a numpy Generator or None; got {rng!r}")
    settings: dict[str, Any] = {
        "budget": check_budget(budget),
        "seed": int(seed),
        "domain": check_domain(domain),
        "version": f"{version('fairqueues')}/{_FORMAT}",
    }
    start = time.perf_counter()
    cells: dict[Key, SearchResult] = {}
    wanted = [(p, q) for q in props for p in asked]
    with ExitStack() as stack:
        store = None
        if resume is not None:
            store = stack.enter_context(Checkpoint(resume, "audit", "resume"))
            if rng is None and store.settings is not None:
                settings["seed"] = store.settings["seed"]
            store.begin(settings)
            cells = {(cell.policy, cell.property): cell for cell in store.read(loads)}
        # Cells that take long come first, so that no process is left alone with one at the end.
        missing = sorted(
            (key for key in wanted if key not in cells),
            key=lambda key: (not isinstance(asked[key[0]], ClusterPolicy), not props[key[1]].compares),
        )
        # The searches about a policy that one process makes share its answers: all meet the smallest models.
        answers: dict[str, Answers] = {p: {} for p in asked}
        results = stream(_cell, ((p, asked[p], props[q], settings, answers[p]) for p, q in missing), n_jobs)
        try:
            for _, result in bar(
                results, what="audit", unit="cell", total=len(missing), shown=bool(progress)
            ):
                cells[result.policy, result.property] = result
                if store is not None:
                    store.write(json.dumps([result.policy, result.property]), dumps(result))
        except BaseException as error:
            if store is not None and store.kept:
                error.add_note(
                    f"audit: {store.kept} cells are kept in {store.path}; the same call goes on from there"
                )
            raise
    table = {key: cells[key] for key in wanted}
    contradictions = _settle(table, asked, props)
    return AuditTable(
        tuple(asked), tuple(props), table, settings, time.perf_counter() - start, tuple(contradictions)
    )


def _cell(
    name: str, policy: Any, prop: Property, settings: Mapping[str, Any], answers: Answers
) -> SearchResult:
    """One search, with the stream of its names; all that it tells calls the policy by the name."""
    domain = settings["domain"]
    names = f"{name}\n{prop.name}\n{domain}".encode()
    key = np.frombuffer(hashlib.sha256(names).digest(), dtype=np.uint32).tolist()
    rng = np.random.default_rng([settings["seed"], *key])
    found = search(policy, prop, budget=settings["budget"], rng=rng, domain=domain, answers=answers)
    witness = None if found.witness is None else replace(found.witness, policy=name)
    return replace(found, policy=name, witness=witness)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _named_policies(policies: Any) -> dict[str, Any]:
    if isinstance(policies, str) or callable(policies) or not isinstance(policies, Iterable):
        raise ModelError.of("policies", f"must be a list of policies, for example [DRF()]; got {policies!r}")
    asked: dict[str, Any] = {}
    named = policies.items() if isinstance(policies, Mapping) else ((policy_name(p), p) for p in policies)
    for name, policy in named:
        if not isinstance(name, str):
            raise ModelError.of("policies", f": names must be strings; got {name!r}")
        policy_name(policy)  # refuses what is none
        if name in asked:
            raise ModelError(
                f"two policies are called {name!r}; tell them apart by a dict, for example "
                "{'first': ..., 'second': ...}"
            )
        asked[name] = policy
    if not asked:
        raise ModelError.of("policies", "is empty; give at least one policy")
    return asked


def _named_properties(properties: Any, trees: bool) -> dict[str, Property]:
    if isinstance(properties, str | Property):
        properties = [properties]
    if properties is not None and not isinstance(properties, Iterable):
        raise ModelError.of("properties", f"must list Property objects or names; got {properties!r}")
    props: dict[str, Property] = {}
    usual = [one for one in PROPERTIES if trees or not one.about_trees]
    for one in usual if properties is None else properties:
        prop = property_named(one) if isinstance(one, str) else one
        if not isinstance(prop, Property):
            raise ModelError.of("properties", f"must list Property objects or names; got {one!r}")
        props[prop.name] = prop
    if not props:
        raise ModelError.of("properties", "is empty; give at least one, or None for all")
    return props


def _settle(
    cells: dict[Key, SearchResult], policies: Mapping[str, Any], props: Mapping[str, Property]
) -> list[str]:
    """Share witnesses between a property and what it implies where the checker agrees; tell what is left."""
    links = [(one, props[implied]) for one in props.values() for implied in one.implies if implied in props]
    contradictions: list[str] = []
    for name, policy in policies.items():
        # Implications may chain; each round but the last betters a cell.
        pairs = [pair for one, implied in links for pair in ((one, implied), (implied, one))]
        while any(_share(cells, name, policy, *pair) for pair in pairs):
            pass
        contradictions += [
            f"{name}: {one.name} implies {implied.name}, which is violated"
            for one, implied in links
            if cells[name, one.name].mark.startswith("✓") and cells[name, implied.name].violated
        ]
    return contradictions


def _share(cells: dict[Key, SearchResult], name: str, policy: Any, taker: Property, giver: Property) -> bool:
    """Let a cell take the witness of another one, if its checker agrees and it has none or a worse one."""
    own, other = cells[name, taker.name], cells[name, giver.name]
    witness = None if other.witness is None or not own.applies else _transferred(other.witness, taker, policy)
    if witness is None:
        return False
    confirmation = exact_verdict(policy)(witness)
    # That P fails says nothing about Q, so only a confirmed violation counts there.
    if not _is_better(witness, confirmation, own) or not (confirmation or giver.name in taker.implies):
        return False
    if confirmation:
        confirmation += f"; this is also the witness against {giver.name}"
    cells[name, taker.name] = replace(own, witness=witness, confirmation=confirmation)
    return True


def _is_better(witness: Witness, confirmation: str, cell: SearchResult) -> bool:
    """Whether a witness should take the place of what a cell has; confirmed ones first, then smaller ones."""
    if cell.witness is None or bool(confirmation) > bool(cell.confirmation):
        return True
    same = bool(confirmation) == bool(cell.confirmation)
    return same and witness_size(witness) < witness_size(cell.witness)


def _transferred(witness: Witness, prop: Property, policy: Any) -> Witness | None:
    """A witness against another property as one against this property; None if its checker disagrees."""
    if prop.compares and witness.change is None:
        same = prop.everything(witness.model)
        asked: list[Any] = [(witness.model, witness.allocation, same, witness.allocation)]
    elif prop.compares:
        asked = [(witness.model, witness.allocation, witness.change, witness.allocation_after)]
    else:
        asked = [(witness.model, witness.allocation, None, None)]
        if witness.change is not None and witness.allocation_after is not None:
            asked.append((witness.change.apply(witness.model), witness.allocation_after, None, None))
    inside = prop.within(tree_of(policy))
    for model, before, change, after in asked:
        if not inside.applies(model) or (prop.compares and change is None):
            continue
        try:
            finding = inside.check(model, before, change, after, division=division_of(policy))
        except ModelError:
            # Another kind of change than the one this property asks about, or a lie of several classes.
            continue
        if not finding.holds:
            return Witness(witness.policy, prop.name, model, change, finding, before, after)
    return None

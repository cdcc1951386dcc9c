"""Properties that a policy may have: a checker for each, a search for counterexamples, and audit tables."""

from fairness.properties.catalogue import PROPERTIES, property_named
from fairness.properties.changes import Grow, Join, Leave, Lie, Units
from fairness.properties.counterexamples.audit import AuditTable, audit
from fairness.properties.counterexamples.result import SearchResult, describe
from fairness.properties.counterexamples.search import search
from fairness.properties.dynamic_incentive import contribution_finding
from fairness.properties.exact.confirm import Confirmation, confirm
from fairness.properties.protocol import Change, Finding, Property, Witness

__all__ = [
    "PROPERTIES",
    "AuditTable",
    "Change",
    "Confirmation",
    "Finding",
    "Grow",
    "Join",
    "Leave",
    "Lie",
    "Property",
    "SearchResult",
    "Units",
    "Witness",
    "audit",
    "confirm",
    "contribution_finding",
    "describe",
    "property_named",
    "search",
]

from .changes.changed_model import Grow, Join, Leave, Lie, Units
from .counterexamples.audit import AuditTable, audit
from .counterexamples.result import SearchResult, describe
from .counterexamples.search import search
from .definitions.catalogue import PROPERTIES, property_named
from .definitions.dynamic_incentive import contribution_finding
from .exact.confirm import Confirmation, confirm
from .protocol.property import Change, Finding, Property, Question, Witness

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
    "Question",
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

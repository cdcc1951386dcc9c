from .catalogue import (
    PROPERTIES as PROPERTIES,
)
from .catalogue import (
    property_named as property_named,
)
from .changes import (
    Grow as Grow,
)
from .changes import (
    Join as Join,
)
from .changes import (
    Leave as Leave,
)
from .changes import (
    Lie as Lie,
)
from .changes import (
    Units as Units,
)
from .counterexamples.audit import (
    AuditTable as AuditTable,
)
from .counterexamples.audit import (
    audit as audit,
)
from .counterexamples.result import (
    SearchResult as SearchResult,
)
from .counterexamples.result import (
    describe as describe,
)
from .counterexamples.search import (
    search as search,
)
from .dynamic_incentive import (
    contribution_finding as contribution_finding,
)
from .exact.confirm import (
    Confirmation as Confirmation,
)
from .exact.confirm import (
    confirm as confirm,
)
from .protocol import (
    Change as Change,
)
from .protocol import (
    Finding as Finding,
)
from .protocol import (
    Property as Property,
)
from .protocol import (
    Witness as Witness,
)

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

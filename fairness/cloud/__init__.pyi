from .allocation import (
    CloudAllocation as CloudAllocation,
)
from .approximate import (
    dcdrf as dcdrf,
)
from .churn import (
    churned as churned,
)
from .comparison import (
    Comparison as Comparison,
)
from .comparison import (
    compare as compare,
)
from .controller import (
    ControlInterval as ControlInterval,
)
from .controller import (
    DeadlineController as DeadlineController,
)
from .demands import (
    SparseDemands as SparseDemands,
)
from .exact import (
    Edrf as Edrf,
)
from .exact import (
    edrf as edrf,
)
from .families import (
    HARD_FAMILIES as HARD_FAMILIES,
)
from .pattern import (
    Pattern as Pattern,
)
from .profiles import (
    PROFILES as PROFILES,
)
from .profiles import (
    demand_profile as demand_profile,
)
from .rounds import (
    Rounds as Rounds,
)
from .rounds import (
    edrf_rounds as edrf_rounds,
)

__all__ = [
    "HARD_FAMILIES",
    "PROFILES",
    "CloudAllocation",
    "Comparison",
    "ControlInterval",
    "DeadlineController",
    "Edrf",
    "Pattern",
    "Rounds",
    "SparseDemands",
    "churned",
    "compare",
    "dcdrf",
    "demand_profile",
    "edrf",
    "edrf_rounds",
]

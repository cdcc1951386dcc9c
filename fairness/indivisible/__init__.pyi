from .cluster import (
    ClusterFilling as ClusterFilling,
)
from .cluster import (
    fill_cluster as fill_cluster,
)
from .machines import (
    Deviation as Deviation,
)
from .machines import (
    deviation as deviation,
)
from .pool import (
    TaskFilling as TaskFilling,
)
from .pool import (
    fill_tasks as fill_tasks,
)
from .rules import (
    BestRank as BestRank,
)
from .rules import (
    LowestShare as LowestShare,
)
from .rules import (
    SequentialMinMax as SequentialMinMax,
)
from .runs import (
    FillingRuns as FillingRuns,
)
from .runs import (
    repeat_filling as repeat_filling,
)
from .server_shares import (
    DominantShare as DominantShare,
)
from .server_shares import (
    ResidualShare as ResidualShare,
)
from .server_shares import (
    TaskShare as TaskShare,
)
from .server_shares import (
    VirtualShare as VirtualShare,
)

__all__ = [
    "BestRank",
    "ClusterFilling",
    "Deviation",
    "DominantShare",
    "FillingRuns",
    "LowestShare",
    "ResidualShare",
    "SequentialMinMax",
    "TaskFilling",
    "TaskShare",
    "VirtualShare",
    "deviation",
    "fill_cluster",
    "fill_tasks",
    "repeat_filling",
]

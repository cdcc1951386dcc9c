from .armada import ArmadaShares, armada_fair_shares, armada_fairness_error
from .division import weighted_division
from .kai import kai_allocatable, kai_fair_shares, kai_gpus, kai_share
from .kueue import (
    KueueShares,
    kueue_admission_usage,
    kueue_consumed,
    kueue_order,
    kueue_preempts,
    kueue_shares,
)
from .mesos import mesos_order
from .shares import cumulative_dominant_share, dominant_share, share_order
from .volcano import VolcanoShares, volcano_deserved, volcano_hdrf, volcano_share
from .yarn import (
    yarn_capacity_order,
    yarn_drf_order,
    yarn_fair_order,
    yarn_fair_shares,
    yarn_used_capacity,
)
from .yunikorn import (
    yunikorn_compare,
    yunikorn_fairness_ratio,
    yunikorn_queue_order,
    yunikorn_share,
    yunikorn_shares,
)

__all__ = [
    "ArmadaShares",
    "KueueShares",
    "VolcanoShares",
    "armada_fair_shares",
    "armada_fairness_error",
    "cumulative_dominant_share",
    "dominant_share",
    "kai_allocatable",
    "kai_fair_shares",
    "kai_gpus",
    "kai_share",
    "kueue_admission_usage",
    "kueue_consumed",
    "kueue_order",
    "kueue_preempts",
    "kueue_shares",
    "mesos_order",
    "share_order",
    "volcano_deserved",
    "volcano_hdrf",
    "volcano_share",
    "weighted_division",
    "yarn_capacity_order",
    "yarn_drf_order",
    "yarn_fair_order",
    "yarn_fair_shares",
    "yarn_used_capacity",
    "yunikorn_compare",
    "yunikorn_fairness_ratio",
    "yunikorn_queue_order",
    "yunikorn_share",
    "yunikorn_shares",
]

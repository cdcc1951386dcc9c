from ..balanced.duration_bound import DurationBound
from ..balanced.fairness import BalancedFairness
from ..balanced.plan import BalancedPlan
from ..certificates.chain_certificate import ChainCertificate
from ..certificates.drift_certificate import DriftCertificate
from ..certificates.lower_certificate import LowerCertificate
from ..certificates.table_policy import TablePolicy
from ..certificates.upper_certificate import UpperCertificate
from ..chain.admission import Admission
from ..chain.sensitivities import Sensitivities
from ..chain.stationary_law import Stationary
from ..chain.tagged import TaggedDuration
from ..chain.transient import Transient
from ..enclosures.finite_chains import ChainEnclosure
from ..enclosures.moment_programs.drift_bound import DriftBound
from ..exact_laws.by_load import MeanJobsByLoad
from ..exact_laws.exact_law import ExactStationary
from ..exact_laws.rational_function import RationalFunction
from ..fluid.circulation import Circulation
from ..fluid.rays import Ray
from ..fluid.trajectory import Trajectory
from ..fluid.verdict import FluidVerdict
from ..model.trace_fit import TraceFit
from ..one_server.order_means import OrderMeans
from ..optima.optimum import Optimum
from ..optima.tune import Tuned
from ..proved_bounds.enclosure import Enclosure
from ..replays.recorded import Replay
from ..replays.time_series import ReplayPaths
from ..simulation.jobs.results import JobSimulation
from ..simulation.results import ServerEvidence, Simulation, TaskSimulation
from ..simulation.tasks.record import TaskTrace
from ..states.table import Table
from ..waiting.saturation import Saturation
from ..waiting.waiting_law import WaitingLaw

__all__ = [
    "Admission",
    "BalancedFairness",
    "BalancedPlan",
    "ChainCertificate",
    "ChainEnclosure",
    "Circulation",
    "DriftBound",
    "DriftCertificate",
    "DurationBound",
    "Enclosure",
    "ExactStationary",
    "FluidVerdict",
    "JobSimulation",
    "LowerCertificate",
    "MeanJobsByLoad",
    "Optimum",
    "OrderMeans",
    "RationalFunction",
    "Ray",
    "Replay",
    "ReplayPaths",
    "Saturation",
    "Sensitivities",
    "ServerEvidence",
    "Simulation",
    "Stationary",
    "Table",
    "TablePolicy",
    "TaggedDuration",
    "TaskSimulation",
    "TaskTrace",
    "TraceFit",
    "Trajectory",
    "Transient",
    "Tuned",
    "UpperCertificate",
    "WaitingLaw",
]

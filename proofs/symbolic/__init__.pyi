from .cells import Cell
from .closed_forms import ClosedForm
from .defining.cases import Conditions, conditions
from .forms import closed_form
from .model.problem import SymbolicProblem
from .model.system import SymbolicSystem
from .parameters.answer import Parameters
from .parameters.asking import synthesise, where
from .parameters.claims import Claim
from .parameters.intervals import Interval
from .parameters.questions import drift_negative, full, gains, same, sharing_incentive, stable
from .traffic.balance import balance_function, balanced_means
from .traffic.boxes import mean_jobs
from .traffic.stability import DriftCell, drift_cells, stability_facets

__all__ = [
    "Cell",
    "Claim",
    "ClosedForm",
    "Conditions",
    "DriftCell",
    "Interval",
    "Parameters",
    "SymbolicProblem",
    "SymbolicSystem",
    "balance_function",
    "balanced_means",
    "closed_form",
    "conditions",
    "drift_cells",
    "drift_negative",
    "full",
    "gains",
    "mean_jobs",
    "same",
    "sharing_incentive",
    "stability_facets",
    "stable",
    "synthesise",
    "where",
]

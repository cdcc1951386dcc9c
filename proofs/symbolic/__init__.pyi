from .cells import Cell
from .closed_forms import ClosedForm
from .forms import closed_form
from .model.problem import SymbolicProblem
from .parameters.answer import Parameters
from .parameters.asking import synthesise, where
from .parameters.claims import Claim
from .parameters.intervals import Interval
from .parameters.questions import drift_negative, full, gains, same, sharing_incentive, stable

__all__ = [
    "Cell",
    "Claim",
    "ClosedForm",
    "Interval",
    "Parameters",
    "SymbolicProblem",
    "closed_form",
    "drift_negative",
    "full",
    "gains",
    "same",
    "sharing_incentive",
    "stable",
    "synthesise",
    "where",
]

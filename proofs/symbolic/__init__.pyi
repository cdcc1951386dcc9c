from .cells import Cell
from .closed_forms import ClosedForm
from .forms import closed_form
from .model.problem import SymbolicProblem

__all__ = [
    "Cell",
    "ClosedForm",
    "SymbolicProblem",
    "closed_form",
]

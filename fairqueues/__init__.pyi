from .scenario import (
    Scenario as Scenario,
)
from .scenario import (
    ScenarioError as ScenarioError,
)
from .scenario import (
    schema as schema,
)

__all__ = [
    "Scenario",
    "ScenarioError",
    "schema",
]

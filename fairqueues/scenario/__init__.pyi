from .locating import (
    ScenarioError as ScenarioError,
)
from .scenario import (
    Scenario as Scenario,
)
from .sections import (
    schema as schema,
)

__all__ = [
    "Scenario",
    "ScenarioError",
    "schema",
]

from .scenario import Scenario
from .sections import schema
from .toml_text import ScenarioError

__all__ = ["Scenario", "ScenarioError", "schema"]

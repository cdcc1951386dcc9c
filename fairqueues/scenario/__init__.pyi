from .place import ScenarioError
from .scenario import Scenario
from .sections import schema

__all__ = ["Scenario", "ScenarioError", "schema"]

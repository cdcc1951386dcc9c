from .scenario import Scenario, ScenarioError, schema

__all__ = ["Scenario", "ScenarioError", "schema"]

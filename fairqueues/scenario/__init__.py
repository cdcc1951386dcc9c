"""Scenario files: one TOML file says what is shared, by whom, under which traffic, and what to compute."""

from fairqueues.scenario.locating import ScenarioError
from fairqueues.scenario.scenario import Scenario
from fairqueues.scenario.sections import schema

__all__ = ["Scenario", "ScenarioError", "schema"]

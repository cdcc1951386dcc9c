"""The front door: scenario files, command line, reports and explorer of the packages below it."""

from typing import TYPE_CHECKING, Any

__all__ = ["Scenario", "ScenarioError", "schema"]

if TYPE_CHECKING:
    from fairqueues.scenario import Scenario, ScenarioError, schema
else:

    def __getattr__(name: str) -> Any:
        """Load scenarios, with pydantic, when they are first asked for."""
        if name in __all__:
            import fairqueues.scenario

            return getattr(fairqueues.scenario, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

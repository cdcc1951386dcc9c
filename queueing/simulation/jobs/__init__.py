"""Job-level simulation with remaining work: general arrivals and sizes, durations and slowdowns, traces.

``simulation`` holds the driver and its result, ``traces`` recorded jobs; ``arguments``, ``runs``, ``events``
and ``statistics`` are the machine behind them.
"""

from queueing.model.job_trace import JobTrace, read_trace
from queueing.simulation.jobs.simulation import JobSimulation, simulate_jobs

__all__ = ["JobSimulation", "JobTrace", "read_trace", "simulate_jobs"]

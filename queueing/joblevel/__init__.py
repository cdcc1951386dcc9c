"""Job-level simulation with remaining work: general arrivals and sizes, durations and slowdowns, traces.

``simulation`` holds the driver and its result, ``traces`` recorded jobs; ``arguments``, ``runs``, ``events``
and ``statistics`` are the machine behind them.
"""

from queueing.joblevel.simulation import JobSimulation, simulate_jobs
from queueing.joblevel.traces import JobTrace, read_trace

__all__ = ["JobSimulation", "JobTrace", "read_trace", "simulate_jobs"]

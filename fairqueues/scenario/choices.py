"""Words that keys of scenario files and options of commands choose among."""

from __future__ import annotations

from typing import Literal

__all__ = ["Level", "Order", "Reader", "RegionKind"]

Level = Literal["jobs", "counts", "tasks"]
"""What is simulated: jobs with sizes, counts of jobs, whole tasks."""

Order = Literal["ps", "fcfs", "sjf", "psjf", "srpt", "las"]
"""Equally; first come; smallest size first, without and with preemption; least left; least attained."""

RegionKind = Literal["stability", "service", "policy", "packing"]
"""Loads that some policy carries, that keep a service rate, that one policy carries, of whole tasks."""

Reader = Literal["saved", "tasks", "alibaba-gpu-2023", "philly"]
"""Readers of a recorded cluster: of files that were saved, of tables of one's own, of public traces."""

"""What datasets say of their variables: ``units`` and ``long_name``, as the CF conventions call them [1]_.

The unit of time and those of the resources are the user's, so they are named and not given: "unit of time",
"units of resource". What has no unit is "1". Labels and flags have none, and neither have variables whose
name is not one of the words of this project, such as the outputs of a sweep that are functions of the user.

References
----------
.. [1] CF Metadata Conventions 1.12, section 3, https://cfconventions.org.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["described", "meaning", "with_unit"]

JOBS, TASKS, TIME, RATE = "jobs", "tasks", "unit of time", "jobs per unit of time"
RESOURCE, NONE = "units of resource", "1"

WORDS: dict[str, tuple[str, str]] = {
    "arrival_rates": (RATE, "arrival rates"),
    "capacities": (RESOURCE, "capacities"),
    "counts": (JOBS, "jobs present"),
    "covariance": ("jobs^2", "covariance of the jobs present"),
    "demands": (f"{RESOURCE} per task", "demands"),
    "distribution": (NONE, "probability"),
    "dominant_shares": (NONE, "dominant shares of a job"),
    "gamma": (TASKS, "tasks alone on a server"),
    "job_class": ("", "job class"),
    "jobs": (JOBS, "jobs present"),
    "known": ("", "how well the means are known"),
    "levels": (NONE, "levels of filling"),
    "limits": ("tasks per job", "most tasks of one job"),
    "load": (NONE, "relative load"),
    "loads": (TASKS, "loads of the classes"),
    "mean_durations": (TIME, "mean duration of a job"),
    "mean_jobs": (JOBS, "mean jobs present"),
    "mean_sizes": ("task-time per job", "mean size of a job"),
    "other_class": ("", "other job class"),
    "placement": (TASKS, "tasks on each server"),
    "prices": ("weight per unit of resource", "prices"),
    "relative_loads": (NONE, "relative loads"),
    "replication": ("", "number of the replication"),
    "residual": (NONE, "relative residual of the balance equations"),
    "resource": ("", "resource"),
    "resource_loads": (RESOURCE, "loads of the resources"),
    "row": ("", "number of the row"),
    "service_rates": (TASKS, "mean running tasks of an active job"),
    "shares": (NONE, "shares of a job, divided by its weight"),
    "state": ("", "number of the state"),
    "stderr": (NONE, "standard error"),
    "tail_mass": (NONE, "probability left out"),
    "tasks": (TASKS, "running tasks"),
    "time": (TIME, "time"),
    "time_shares": (NONE, "part of the time that a server is held"),
    "usage": (RESOURCE, "resource in use"),
    "utilization": (NONE, "part of the capacity in use"),
    "variances": ("jobs^2", "variance of the jobs present"),
    "virtual_dominant_shares": (NONE, "virtual dominant shares"),
    "weights": (NONE, "weights of a job"),
}
"""Units ("" for what is counted in none) and long names of the words of this project."""

_SINGULAR = {"mean_duration": "mean_durations", "service_rate": "service_rates", "variance": "variances",
             "dominant_share": "dominant_shares", "weight": "weights", "limit": "limits"}  # fmt: skip
_SWEPT = ("arrival_rates", "capacities", "demands", "limits", "loads", "mean_sizes", "mix", "weights")
_OF = {
    "jobs of": JOBS, "marginal of": NONE, "usage of": "units of", "demand of": "units of", "tasks on": TASKS,
    "load": TASKS,
}  # fmt: skip


def meaning(name: str, *, per_class: bool = False) -> tuple[str, str]:
    """Units of a variable, "" where none are known, and its long name.

    Parameters
    ----------
    name : str
    per_class : bool
        Whether there is one value per job class: the ``load`` of a class is counted in tasks.

    Examples
    --------
    >>> meaning("mean_durations"), meaning("usage of cpu"), meaning("weights_A")
    (('unit of time', 'mean duration of a job'), ('units of cpu', 'usage of cpu'), ('1', 'weights A'))
    >>> meaning("my_own")
    ('', 'my own')
    """
    told = name.replace("_", " ")
    if name == "load" and per_class:
        return TASKS, "load of the class"
    known = _SINGULAR.get(name, name).replace(" ", "_")
    if known in WORDS:
        return WORDS[known]
    if error := re.fullmatch(r"(\w+)_error", known):
        units, long_name = meaning(error[1], per_class=per_class)
        return units, f"error of the {long_name}"
    for head, units in _OF.items():
        if name.startswith(f"{head} "):
            of = name.removeprefix(f"{head} ")
            per = " per task" if head == "demand of" else ""
            return (f"{units} {of}{per}" if units == "units of" else units), name
    for word in _SWEPT:
        if name.startswith(f"{word}_"):
            return (NONE if word == "mix" else WORDS[word][0]), told
    return "", told


def described(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset, with ``units`` and ``long_name`` of each variable and coordinate; what is there stays.

    Examples
    --------
    >>> import xarray as xr
    >>> law = described(xr.Dataset({"mean_durations": ("job_class", [2.0])}, {"job_class": ["A"]}))
    >>> law.mean_durations.attrs, law.job_class.attrs
    ({'long_name': 'mean duration of a job', 'units': 'unit of time'}, {'long_name': 'job class'})
    """
    for name, variable in dataset.variables.items():
        per_class = "job_class" in variable.dims
        units, long_name = meaning(str(name), per_class=per_class)
        variable.attrs.setdefault("long_name", long_name)
        if units and variable.dtype.kind in "iufc":
            variable.attrs.setdefault("units", units)
    return dataset


def with_unit(name: str, attrs: Mapping[str, Any]) -> str:
    """A name with the unit behind it, where the attributes of a variable have one.

    Examples
    --------
    >>> with_unit("mean duration", {"units": "s"}), with_unit("load", {"units": "1"})
    ('mean duration (s)', 'load')
    """
    unit = attrs.get("units", NONE)
    return name if unit == NONE else f"{name} ({unit})"

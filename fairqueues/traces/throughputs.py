r"""Measured throughputs of job types on accelerators, and the cluster that they make.

With :math:`T_{mj}` the steps per second of job m on accelerators of type j, and :math:`X_{mj}` the part of
its time that it spends there, its *effective throughput* is [1]_ (section 3.1)

.. math:: \text{throughput}(m, X) = \sum_j T_{mj}X_{mj},\qquad
   \sum_j X_{mj}\le 1,\qquad \sum_m s_m X_{mj}\le W_j,

where :math:`s_m` is the number of devices that the job occupies, and :math:`W_j` how many there are. Gavel's
max-min fairness (least attained service, section 4.1) maximises the smallest
:math:`\text{throughput}(m, X)\,s_m / (w_m\,\text{throughput}(m, X^{\text{equal}}))`, where everybody has the
same part of every accelerator in :math:`X^{\text{equal}}`.

In a :class:`~fairness.Cluster` a task is one step per second, a server is all accelerators of a type, and

.. math:: \gamma_{mj} = T_{mj}W_j/s_m

are the steps per second that job m makes if it has them all. Then :math:`x_{mj}=T_{mj}X_{mj}`, time on a
server is shared as the second constraint says, and :math:`\sum_j\gamma_{mj}` is proportional to
:math:`\text{throughput}(m, X^{\text{equal}})/s_m`: the leximin of tasks over :math:`\sum_j\gamma_{mj}`,
which is :class:`~fairness.TSF`, is Gavel's max-min fairness, with ties broken in favour of the others,
wherever the first constraint (one job is in one place at a time) is slack. A cluster does not know that
constraint; :meth:`Throughputs.times` shows whether an allocation keeps it. It is slack where jobs are many:
of Gavel's own measurements, with the 26 models on one device and 36 devices of each of three accelerators,
10 jobs of each make TSF and Gavel's program agree; 5 jobs leave them 4 % apart, and with one job each, when
devices stand idle, TSF promises four times what a job can have in one place.

References
----------
.. [1] D. Narayanan, K. Santhanam, F. Kazhamiaka, A. Phanishayee and M. Zaharia, "Heterogeneity-aware cluster
   scheduling policies for deep learning workloads", OSDI 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.plain import near
from fairness.arguments.validation import (
    FloatArray,
    IntArray,
    checked_names,
    float_array,
    frozen,
    require,
    require_whole,
)
from fairness.display.colours import part_colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.display.wording import many
from fairness.errors import ModelError
from fairness.model.cluster import Cluster

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Throughputs"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Throughputs(Result):
    """Steps per second of job types on accelerators, alone and in pairs.

    Parameters
    ----------
    models : sequence of str of length n_types
        What is trained; a model on several numbers of devices is several job types.
    scale_factors : array_like of int, shape (n_types,), devices
        On how many devices a job of the type runs.
    accelerators : sequence of str of length n_accelerators
    alone : array_like of shape (n_types, n_accelerators), steps per second
        0 where a job cannot run, NaN where it was not measured.
    pairs : array_like of shape (n_accelerators, n_types, n_types), steps per second, optional
        Of the row's type, beside one of the column's type on the same devices; NaN where not measured.
    source : str

    Raises
    ------
    ModelError
        If a shape or sign is wrong, or a job type or an accelerator stands twice.

    Examples
    --------
    >>> measured = Throughputs(("A", "B"), [1, 1], ("k80", "v100"), [[1, 4], [2, 4]])
    >>> measured
    Throughputs(2 job types on 2 accelerators)
      k80: 2 measured, 1 to 2 steps/s
      v100: 2 measured, 4 to 4 steps/s
    >>> from fairness import TSF, allocate
    >>> cluster = measured.cluster(devices={"k80": 1, "v100": 1})
    >>> allocation = allocate(cluster, TSF(), [2, 2])
    >>> allocation.tasks
    array([2.72727273, 3.27272727])
    >>> measured.times(allocation.placement, [2, 2], devices={"k80": 1, "v100": 1}).round(4)
    array([[0.    , 0.3409],
           [0.5   , 0.1591]])
    """

    models: tuple[str, ...]
    scale_factors: IntArray
    accelerators: tuple[str, ...]
    alone: FloatArray
    pairs: FloatArray | None
    source: str

    def __init__(
        self,
        models: Sequence[str],
        scale_factors: ArrayLike,
        accelerators: Sequence[str],
        alone: ArrayLike,
        pairs: ArrayLike | None = None,
        *,
        source: str = "",
    ) -> None:
        hosts = checked_names("accelerators", accelerators, len(accelerators), "accelerator")
        devices = float_array("scale_factors", scale_factors, 1)
        require("scale_factors", devices, (devices >= 1) & (devices == np.floor(devices)), "whole and >= 1")
        types = tuple(str(model) for model in models)
        t = float_array("alone", alone, 2)
        n, m = len(types), len(hosts)
        if devices.shape != (n,) or t.shape != (n, m):
            raise ModelError.of(
                "alone", f"must have shape (n_types, n_accelerators) = {(n, m)}, and scale_factors {(n,)}; "
                f"got {t.shape} and {devices.shape}"
            )  # fmt: skip
        require("alone", t, np.isnan(t) | (np.isfinite(t) & (t >= 0)), ">= 0, or NaN", types, hosts)
        if len(set(zip(types, devices, strict=True))) < n:
            raise ModelError.of("models", "must be distinct, together with their scale_factors")
        both = None if pairs is None else float_array("pairs", pairs, 3)
        if both is not None:
            if both.shape != (m, n, n):
                raise ModelError.of("pairs", f"must have shape {(m, n, n)}; got {both.shape}")
            require("pairs", both, np.isnan(both) | (np.isfinite(both) & (both >= 0)), ">= 0, or NaN", hosts)
        vars(self).update(
            models=types,
            scale_factors=frozen(devices.astype(np.int64)),
            accelerators=hosts,
            alone=frozen(t),
            pairs=None if both is None else frozen(both),
            source=str(source),
        )

    @cached_property
    def job_types(self) -> tuple[str, ...]:
        """Names of the job types: the model, and its number of devices where it is not one."""
        pairs = zip(self.models, self.scale_factors, strict=True)
        return tuple(model if s == 1 else f"{model}, {s} devices" for model, s in pairs)

    def require_accelerator(self, name: str) -> int:
        """Its place; ModelError if it is unknown."""
        return _place("accelerator", name, self.accelerators)

    def rate(self, model: str, scale_factor: int, accelerator: str) -> float:
        """Steps per second of a job alone; NaN where it was not measured."""
        j = self.require_accelerator(accelerator)
        i = self._places.get((model, scale_factor))
        return float("nan") if i is None else float(self.alone[i, j])

    def beside(self, job_type: str, other: str, accelerator: str) -> float:
        """Steps per second of a job type beside another on the same devices; NaN where not measured."""
        j = self.require_accelerator(accelerator)
        i, k = self._chosen([job_type, other])
        return float("nan") if self.pairs is None else float(self.pairs[j, i, k])

    def cluster(self, job_types: Sequence[str] | None = None, *, devices: Mapping[str, int]) -> Cluster:
        """Accelerators as servers, a class per job type; a task is one step per second.

        Parameters
        ----------
        job_types : sequence of str, optional
            Some of :attr:`job_types`; default: all.
        devices : mapping from accelerator to int
            How many there are of each.

        Raises
        ------
        ModelError
            If a name is unknown, a throughput was not measured, or a job type needs more devices than there
            are of any accelerator.

        Examples
        --------
        >>> measured = Throughputs(("A", "B"), [1, 2], ("k80", "v100"), [[1, 4], [2, 9]])
        >>> measured.cluster(devices={"v100": 8, "k80": 2}).gamma
        array([[32.,  2.],
               [36.,  2.]])
        """
        rows, columns, counts = self._chosen(job_types), *self._counted(devices)
        rates = self.alone[np.ix_(rows, columns)]
        if np.isnan(rates).any():
            i, j = (int(k) for k in np.argwhere(np.isnan(rates))[0])
            raise ModelError.of(
                "job_types",
                f": {self.job_types[rows[i]]!r} was not measured on {self.accelerators[columns[j]]!r}; leave "
                "one of them out",
            )
        scale = self.scale_factors[rows].astype(float)
        fits = scale[:, None] <= counts
        return Cluster(
            scale[:, None],
            counts[:, None],
            gamma=np.where(fits, rates * counts / scale[:, None], 0.0),
            eligible=fits & (rates > 0),
            job_classes=[self.job_types[i] for i in rows],
            servers=[self.accelerators[j] for j in columns],
            resources=["devices"],
        )

    def times(
        self,
        placement: ArrayLike,
        counts: ArrayLike = 1.0,
        job_types: Sequence[str] | None = None,
        *,
        devices: Mapping[str, int],
    ) -> FloatArray:
        """Part of its time that a job of each class spends on each accelerator.

        Parameters
        ----------
        placement : array_like of shape (n_classes, n_servers), steps per second
            Of an allocation of :meth:`cluster`, of the same job types and devices.
        counts : array_like of shape (n_classes,)
            Jobs of each class.
        job_types, devices
            As for :meth:`cluster`.

        Returns
        -------
        ndarray of shape (n_classes, n_servers)
            Where a row adds up to more than 1, a job would have to be in two places at once.
        """
        rows, columns, _ = self._chosen(job_types), *self._counted(devices)
        steps = float_array("placement", placement, 2)
        rates = self.alone[np.ix_(rows, columns)]
        if steps.shape != rates.shape:
            raise ModelError.of("placement", f"must have shape {rates.shape}; got {steps.shape}")
        jobs = np.broadcast_to(float_array("counts", counts), (len(rows),))[:, None]
        return np.divide(steps, rates * jobs, out=np.zeros_like(steps), where=steps > 0)

    def summary(self) -> str:
        """Job types, accelerators, and the range of what was measured."""
        n, m = self.alone.shape
        lines = [f"Throughputs({many(n, 'job type')} on {many(m, 'accelerator')})"]
        for j, name in enumerate(self.accelerators):
            known = self.alone[:, j][~np.isnan(self.alone[:, j])]
            text = f", {known.min():.3g} to {known.max():.3g} steps/s" if known.size else ""
            lines.append(f"{name}: {known.size} measured{text}")
        lines += [f"source: {self.source}"] * bool(self.source)
        return "\n  ".join(lines)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per job type: devices, and steps per second alone on each accelerator."""
        import pandas as pd

        columns: dict[str, Any] = {"devices": self.scale_factors}
        columns |= {name: self.alone[:, j] for j, name in enumerate(self.accelerators)}
        return pd.DataFrame(columns, index=pd.Index(self.job_types, name="job_type"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """How much faster each job type is on each accelerator than on its slowest one."""
        ax = given_axes(ax)
        known = np.where(self.alone > 0, self.alone, np.nan)
        slowest = np.nanmin(np.where(np.isnan(known), np.inf, known), axis=1)
        speed = known / slowest[:, None]
        order = np.argsort(np.nan_to_num(np.nanmax(np.where(np.isnan(speed), 0.0, speed), axis=1)))
        for j, name in enumerate(self.accelerators):
            ax.plot(
                range(len(order)), speed[order, j], "o", markersize=3, color=part_colour(j), label=label(name)
            )
        ax.set(
            xlabel="job types, by their largest gain",
            ylabel="steps/s over those of the slowest",
            title="What an accelerator is worth",
        )
        legend_beside(ax)
        return ax

    @cached_property
    def _places(self) -> dict[tuple[str, int], int]:
        return {key: i for i, key in enumerate(zip(self.models, self.scale_factors.tolist(), strict=True))}

    def _chosen(self, job_types: Sequence[str] | None) -> list[int]:
        if job_types is None:
            return list(range(len(self.models)))
        return [_place("job_types", name, self.job_types) for name in job_types]

    def _counted(self, devices: Mapping[str, int]) -> tuple[list[int], FloatArray]:
        columns = [self.require_accelerator(name) for name in devices]
        counts = [require_whole(f"devices[{name!r}]", count, 1) for name, count in devices.items()]
        return columns, np.array(counts, dtype=float)


def _place(argument: str, name: str, known: Sequence[str]) -> int:
    """Place of a name among those that are known; ModelError if it is none of them."""
    if name not in known:
        raise ModelError.of(argument, f": {name!r} is unknown; {near(str(name), known)}")
    return known.index(name)

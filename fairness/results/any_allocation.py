"""What the allocations of pools and of clusters have in common."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.labels import DIMS
from fairness.arguments.validation import FloatArray
from fairness.display.result import Result
from fairness.display.units import described
from fairness.evidence.pools import SATURATION, Certificate

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["AnyAllocation"]


class AnyAllocation(Result):
    """What a policy gives to the classes of a model; a subclass has the model and the answer as fields."""

    policy: Any
    name: str
    counts: FloatArray
    certificate: Certificate
    levels: FloatArray | None
    prices: FloatArray | None

    _dispensable = ("policy",)

    if TYPE_CHECKING:

        @property
        def tasks(self) -> FloatArray:
            """Tasks per class, shape (n_classes,): a field of one subclass, which a property would fill."""

    @staticmethod
    def upgraded(fields: dict[str, Any], written: int) -> dict[str, Any]:
        """Fields of today from those of the first format, which kept the name of a policy alone."""
        return fields | {"policy": None, "name": fields["policy"]}

    @property
    @abstractmethod
    def model(self) -> Any:
        """The pool or the cluster."""

    @property
    @abstractmethod
    def placed(self) -> FloatArray:
        """Tasks of each class on each server, shape (n_classes, n_servers); a pool is one server."""

    @property
    @abstractmethod
    def utilization(self) -> FloatArray:
        """Usage over capacity; 1 where the capacity is 0."""

    @cached_property
    def saturated(self) -> NDArray[np.bool_]:
        """Resources, in the shape of the capacities, with less than 1e-9 of the capacity free."""
        return self.utilization >= 1.0 - SATURATION

    @cached_property
    def _at_limit(self) -> NDArray[np.bool_]:
        return self.placed.sum(axis=1) >= self.model.most_tasks(self.counts) * (1.0 - SATURATION)

    def _dataset(self, data: dict[str, tuple[tuple[str, ...], Any]], **attrs: str) -> xr.Dataset:
        """The data, levels and prices with labels; the policy is a coordinate without dim."""
        import xarray as xr

        for name, dim in (("levels", "job_class"), ("prices", data["capacities"][0][0])):
            if (values := getattr(self, name)) is not None:
                data[name] = ((dim,), values)
        names: dict[str, tuple[str, ...]] = self.model._names()
        labels = {DIMS[axis]: list(own) for axis, own in names.items()} | {"policy": self.name}
        return described(xr.Dataset(data, labels, attrs | {"certificate": str(self.certificate)}))

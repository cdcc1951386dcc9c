"""Loads of classes as callers hand them in, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, model_array
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = ["checked_loads", "checked_model"]


def checked_model(model: Any) -> Problem | Cluster:
    """The model; refuse what is none."""
    if not isinstance(model, (Problem, Cluster)):
        raise ModelError.of("model", f"must be a Problem or a Cluster; got {type(model).__name__}")
    return model


def checked_loads(
    model: Problem | Cluster,
    loads: ArrayLike,
    batch: bool = True,
    name: str = "loads",
    least: float = -np.inf,
) -> FloatArray:
    """Finite loads of shape (..., n_classes), or of shape (n_classes,) without a batch.

    Raises
    ------
    ModelError
        If the shape or a label is wrong, or a load is not finite or below ``least``.
    """
    rho, n = model_array(name, loads, model, "job_classes"), model.n_classes
    if rho.ndim == 0 or rho.shape[-1] != n or not (batch or rho.ndim == 1):
        alone = "" if batch else ", without a batch"
        raise ModelError.of(name, f"has shape {rho.shape}; its last axis must list the {n} classes{alone}")
    if not np.isfinite(rho).all():
        raise ModelError.of(name, "must be finite")
    if (rho < least).any():
        raise ModelError.of(name, f"must be >= {least:g}")
    return rho

r"""The point of a region's boundary that is nearest to given loads, and the facet on which it lies.

The region is :math:`P = \{\rho \ge 0 : A\rho \le b\}` with :math:`A \ge 0`, :math:`b > 0`. Loads of different
classes are compared in units of their scales :math:`s`, so :math:`y = \rho/s`:

* inside, the nearest point is the foot on the nearest of the planes :math:`\sum_i a_{ki} s_i y_i = b_k`, at
  the distance :math:`(b_k - a_k\rho)/\lVert a_k s\rVert`; it is in P, since :math:`A \ge 0` moves it away
  from the axes, and every other plane is at least as far;
* outside, it is the projection on P: the least :math:`\lVert z\rVert` with :math:`Gz \ge h`, found by
  non-negative least squares [1]_; of the facets that meet there it names the one with the largest multiplier.

References
----------
.. [1] C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", Prentice-Hall, 1974, section 23.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import FloatArray

__all__ = ["Foot", "nearest_boundary"]


ROUNDING = 1e-14
"""In units of the scale: loads no farther outside are on the boundary, and no projection tells a facet."""


class Foot(NamedTuple):
    """Where the boundary is nearest."""

    facet: int
    """Its number."""
    point: FloatArray
    """The nearest point, shape (n_classes,), tasks."""
    inside: bool
    """Whether the loads are strictly inside all facets."""


def nearest_boundary(normals: FloatArray, offsets: FloatArray, loads: FloatArray, scale: FloatArray) -> Foot:
    """Nearest point of the boundary, from facets (n_facets, n_classes) and loads >= 0, in units of the scale.

    Examples
    --------
    >>> square = np.eye(2), np.ones(2)
    >>> nearest_boundary(*square, np.array([0.5, 0.9]), np.ones(2))
    Foot(facet=1, point=array([0.5, 1. ]), inside=True)
    >>> nearest_boundary(*square, np.array([3.0, 0.9]), np.ones(2)).point
    array([1. , 0.9])
    """
    planes = normals * scale
    size = np.linalg.norm(planes, axis=1)
    beyond = (normals @ loads - offsets) / size
    k = int(beyond.argmax())
    if beyond[k] <= ROUNDING:
        return Foot(k, np.maximum(loads - beyond[k] * planes[k] / size[k] * scale, 0.0), bool(beyond[k] < 0))
    from scipy.optimize import nnls

    unit = planes / size[:, None]
    needs = np.concatenate([beyond, -loads / scale])  # of the step z: -unit z >= beyond, z >= -y
    rows = np.vstack([-unit, np.eye(len(loads))])
    shares, _ = nnls(np.vstack([rows.T, needs]), np.append(np.zeros(len(loads)), 1.0))
    rest = np.vstack([rows.T, needs]) @ shares - np.append(np.zeros(len(loads)), 1.0)
    step = -rest[:-1] / rest[-1] if rest[-1] < 0 else np.zeros(len(loads))
    return Foot(int(shares[: len(size)].argmax()), np.maximum(loads + step * scale, 0.0), False)

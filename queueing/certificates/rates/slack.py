r"""What an allocation leaves of a capacity, in twice the digits of a float.

Sums and products of floats are split into the float that the machine computes and the rest, which is a float
again [1]_. Nothing here may be compiled with ``fastmath``, or with multiplications fused into additions.

References
----------
.. [1] T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik
   18, 1971. DOI 10.1007/BF01397083.
"""

from __future__ import annotations

from fairness.machine.compiling import part
from fairness.model.problem import FloatArray

__all__ = ["UNIT", "slack_of", "two_product", "two_sum"]

UNIT = 2.0**-53


@part
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Exactly a + b = s + e."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@part
def two_product(a: float, b: float) -> tuple[float, float]:
    """Exactly a b = p + e (Dekker 1971), up to underflow of e; NaN where the splitting overflows."""
    p = a * b
    c = 134217729.0 * a
    high_a = c - (c - a)
    low_a = a - high_a
    c = 134217729.0 * b
    high_b = c - (c - b)
    low_b = b - high_b
    return p, ((high_a * high_b - p) + high_a * low_b + low_a * high_b) + low_a * low_b


@part
def slack_of(
    demands: FloatArray, capacity: float, j: int, high: FloatArray, low: FloatArray
) -> tuple[float, float]:
    """C_j - sum_i a_ij (high_i + low_i), and a bound of the error of this value.

    Products and sums of the leading parts are exact; their remainders are summed in floats, with at most
    3n + 1 roundings of partial sums that are no larger than the sum of the remainders' sizes.
    """
    total, remainder, size = capacity, 0.0, 0.0
    for i in range(high.size):
        a = demands[i, j]
        if a == 0 or high[i] == 0:
            continue
        product, below = two_product(a, high[i])
        total, lost = two_sum(total, -product)
        rest = a * low[i]
        remainder += lost - below - rest
        size += abs(lost) + abs(below) + abs(rest)
    value = total + remainder
    # The last term is for remainders that underflow.
    return value, (size * (4 * high.size + 4) + abs(value)) * UNIT * 1.01 + 1e-300

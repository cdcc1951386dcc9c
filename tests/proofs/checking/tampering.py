"""Bending evidence: where its numbers are, and a copy in which one of them is another."""

import json


def numbers_in(data, path=()):
    """Places of all numbers in nested data, coefficients in texts of polynomials included."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from numbers_in(value, (*path, key))
    elif isinstance(data, list):
        for k, value in enumerate(data):
            yield from numbers_in(value, (*path, k))
    elif isinstance(data, int | str) and not isinstance(data, bool) and any(c.isdigit() for c in str(data)):
        yield path


def changed(data, path):
    """A copy with one number raised by one."""
    data = json.loads(json.dumps(data))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    old = inner[path[-1]]
    if isinstance(old, int):
        inner[path[-1]] = old + 1
    else:
        k = next(k for k, c in enumerate(old) if c.isdigit())
        inner[path[-1]] = old[:k] + str((int(old[k]) + 1) % 10) + old[k + 1 :]
    return data

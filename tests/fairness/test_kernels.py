"""Compiled kernels: two forms of the task shares, and stored kernels that notice edits in other files."""

import importlib
import os
import subprocess
import sys
import types

import numba
import numpy as np
import pytest

import fairness.errors
import fairness.kernels
from fairness.kernels import entry, fingerprint, nonzeros, span


def usage(shares, tasks, result):
    for i in range(tasks.size):
        first, last = span(shares, i)
        for e in range(first, last):
            j, a = entry(shares, i, e)
            result[j] += a * tasks[i]


@pytest.mark.parametrize("compiled", [False, True])
def test_matrix_and_nonzeros_are_the_same(compiled):
    rng = np.random.default_rng(0)
    a = rng.random((7, 5)) * (rng.random((7, 5)) < 0.5)
    tasks = rng.random(7)
    kernel = numba.njit(usage) if compiled else usage
    for shares in (a, nonzeros(a)):
        result = np.zeros(5)
        kernel(shares, tasks, result)
        np.testing.assert_allclose(result, tasks @ a, rtol=1e-14)


def test_fingerprint_changes_with_each_source(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "some_helper.py"
    source.write_text("FACTOR = 1\n")
    module = importlib.import_module("some_helper")
    assert isinstance(module, types.ModuleType)
    before = fingerprint(module), fingerprint(fairness.errors, module)
    assert before == (fingerprint(module), fingerprint(fairness.errors, module))
    source.write_text("FACTOR = 22\n")
    assert fingerprint(module) != before[0]
    assert fingerprint(fairness.errors, module) != before[1]
    assert fingerprint(fairness.errors) != fingerprint(fairness.kernels)


HELPER = """
import numba
@numba.njit
def helper(x):
    return {factor} * x
"""

KERNEL = """
import numba
import fairness.kernels
import helper
def make(sources):
    @numba.njit(cache=True)
    def kernel(x):
        assert sources
        return helper.helper(x)
    return kernel
print(make({digest})(1))
"""


@pytest.mark.parametrize(
    ("digest", "second"), [("fairness.kernels.fingerprint(helper)", "2"), ("'none'", "1")]
)
def test_stored_kernels_notice_edits_of_helpers(tmp_path, digest, second):
    """With the fingerprint; without it numba goes on running the old helper (else, drop the fingerprint)."""
    (tmp_path / "main.py").write_text(KERNEL.format(digest=digest))
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    printed = []
    for factor in (1, 2):
        (tmp_path / "helper.py").write_text(HELPER.format(factor=factor))
        run = subprocess.run(
            [sys.executable, "main.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(run.stdout.strip())
    assert printed == ["1", second]

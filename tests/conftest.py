"""What holds for all tests: how fast the machine is decides nothing, and no file is compiled twice."""

from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_sessionstart(session):
    """Import the test files, each worker from another place on: what one has compiled, the next one reads.

    On a new clone two workers that go through the files side by side would both compile each of them, and
    what it imports.
    """
    config, here = session.config, Path(__file__).parent
    worker = getattr(config, "workerinput", None)
    if worker is not None and config.args_source is config.ArgsSource.TESTPATHS:
        files = sorted(here.rglob("test_*.py"))
        first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        for path in files[first:] + files[:first]:
            with suppress(Exception, pytest.skip.Exception):  # the collection tells of it
                import_module(".".join(path.relative_to(here.parent).with_suffix("").parts))

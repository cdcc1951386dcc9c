"""The README's example runs as printed."""

import doctest
from pathlib import Path


def test_readme_example():
    readme = Path(__file__).parent.parent / "README.md"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failures, attempted = doctest.testfile(str(readme), module_relative=False, optionflags=flags)
    assert attempted >= 8
    assert failures == 0

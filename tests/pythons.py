"""Run the test suite on every Python that the project promises and the machine has: ``make pythons``.

Each Python gets an environment of its own under ``out/pythons``, with the newest versions of what it needs.
The exit code is 1 if a suite fails; which Pythons are missing is said, and is no failure.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 7200
"""Seconds of one program."""


def promised() -> list[str]:
    """Versions of Python in the classifiers, such as "3.11"."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c) for c in project["classifiers"])
    return [match[1] for match in found if match]


def installed(version: str) -> str | None:
    """The program of a Python, if there is one that runs."""
    python = shutil.which(f"python{version}")
    # A shim may be there without what it stands for.
    runs = (
        python
        and subprocess.run([python, "-c", ""], capture_output=True, check=False, timeout=60).returncode == 0
    )
    return python if runs else None


def suite(version: str, python: str, arguments: list[str]) -> int:
    """Exit code of the tests on one Python."""
    own = ROOT / "out" / "pythons" / version
    run = own / "bin" / "python"
    if not run.exists():
        subprocess.run([python, "-m", "venv", own], check=True, timeout=LONGEST)
    pip = [run, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", f"{ROOT}[test]"], check=True, timeout=LONGEST)
    return subprocess.run(
        [run, "-m", "pytest", *arguments], cwd=ROOT, check=False, timeout=LONGEST
    ).returncode


def main(arguments: list[str]) -> int:
    """Run all; ``arguments`` are those of pytest."""
    told = {}
    for version in promised():
        python = installed(version)
        told[version] = None if python is None else suite(version, python, arguments)
    for version, code in told.items():
        print(f"Python {version}:", "not installed" if code is None else "failed" if code else "passed")
    return int(any(told.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

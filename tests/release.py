"""A release without publishing it: ``make release`` on a checkout where everything is committed.

It builds an sdist and a wheel into ``out/release``, checks that all say the same version and that the
metadata is what a registry takes, installs both into empty environments on every Python at hand, runs the
examples of README there without a compiler in reach, and writes the text of the tag. Publishing is left to a
person, in the commands that it prints.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.metadata import Metadata

from tests.fairqueues.test_newcomer import DOCTEST, FLAGS, blocks
from tests.pythons import LONGEST, ROOT, installed, promised

TARGET = ROOT / "out" / "release"
AT_ONCE = 2
COMPILERS = ("cc", "gcc", "clang", "c++", "g++")


def call(*command: object, **options: object) -> str:
    """What a program prints; the whole of it if it fails."""
    run = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=LONGEST, **options
    )  # type: ignore[call-overload]
    if run.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
    return str(run.stdout)


def agreed_version() -> tuple[str, str]:
    """The version that all files say, and what the changelog says of it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL)
    said = {
        "pyproject.toml": project["version"],
        "CITATION.cff": cited[1] if cited else "nothing",
        "CHANGELOG.md": section[1] if section else "nothing",
    }
    if len(set(said.values())) > 1 or section is None:
        raise SystemExit(f"versions differ: {', '.join(f'{file} says {v}' for file, v in said.items())}")
    return section[1], section[2].strip()


def checked_metadata(wheel: Path, sdist: Path) -> None:
    """Raise unless both files carry metadata that a registry takes."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        texts = [archive.read(names[0])]
    with tarfile.open(sdist) as archive:
        member = archive.extractfile(f"{sdist.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert member is not None
        texts.append(member.read())
    for text in texts:
        Metadata.from_email(text, validate=True)
    if texts[0] != texts[1]:
        raise SystemExit("the metadata of sdist and wheel differ")


def answers(python: str, artefact: Path, folder: Path) -> None:
    """Install into an empty environment and run the examples of README there."""
    call(python, "-m", "venv", folder)
    own = folder / "bin"
    pip = [own / "python", "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    # All but ours: what needs a compiler to be installed would be found out.
    call(*pip, "--only-binary", ":all:", "--no-binary", "fairqueues", f"{artefact}[exact]")
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    page = tools / "README.txt"
    page.write_text("\n".join(blocks(ROOT / "README.md", "python")), encoding="utf-8")
    variables = {"PATH": str(own), "HOME": str(tools), "MPLBACKEND": "Agg", "LANG": "C.UTF-8"}
    assert not any((own / name).exists() for name in COMPILERS)
    call(own / "python", "-c", DOCTEST, page, FLAGS, cwd=tools, env=variables)


def main() -> None:
    """Build, check, install, and write the text of the tag."""
    version, changes = agreed_version()
    if call("git", "status", "--porcelain", cwd=ROOT):
        raise SystemExit("something is not committed: a release is made of what is")
    for old in TARGET.glob("fairqueues-*"):
        old.unlink()
    call(sys.executable, "-m", "build", "--outdir", TARGET, ROOT)
    (wheel,), (sdist,) = TARGET.glob("*.whl"), TARGET.glob("*.tar.gz")
    checked_metadata(wheel, sdist)
    pythons = {name: installed(name) for name in promised()}
    asked = [(name, wheel) for name in pythons] + [(promised()[0], sdist)]

    def tried(one: tuple[str, Path]) -> str:
        name, artefact = one
        python = pythons[name]
        if python is None:
            return f"Python {name}: not installed"
        answers(python, artefact, TARGET / f"{name}-{artefact.suffix[1:]}-{os.getpid()}")
        return f"Python {name}: {artefact.name} answers the examples of README"

    # Half of it is waiting for the registry.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for told in pool.map(tried, asked):
            print(told)
    tag = TARGET / f"v{version}.txt"
    tag.write_text(f"fairqueues {version}\n\n{changes}\n", encoding="utf-8")
    print(f"{tag.relative_to(ROOT)} is the text of the tag. To publish:")
    print(f"  git tag -a v{version} -F {tag.relative_to(ROOT)} && git push origin v{version}")
    print(f"  python -m twine upload {wheel.relative_to(ROOT)} {sdist.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

"""``reproduce`` and ``bench``: the galleries and the speed table, which live in the repository.

The wheel holds the library and the command; examples and benchmarks are scripts of the repository. These two
commands run them from a checkout: the folder that is given, the one around the current folder, or the one
that the package was imported from.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fairqueues.errors import WrongUse
from fairqueues.files import require_folder

__all__ = ["bench", "checkout", "reproduce"]

Checkout = Annotated[Path | None, typer.Option("--checkout")]


def _sources(root: Path) -> list[str]:
    return sorted(p.stem for p in (root / "examples").glob("*.py") if "SOURCE = " in p.read_text("utf-8"))


def _topics(root: Path) -> list[str]:
    return sorted(p.stem.removeprefix("bench_") for p in (root / "benchmarks").glob("bench_*.py"))


def _offered(known: Callable[[Path], list[str]]) -> Callable[[str], list[str]]:
    """What the shell offers: such names of the checkout around, if there is one."""

    def names(incomplete: str) -> list[str]:
        try:
            return [name for name in known(checkout()) if name.startswith(incomplete)]
        except WrongUse:
            return []

    return names


def reproduce(
    sources: Annotated[list[str] | None, typer.Argument(autocompletion=_offered(_sources))] = None,
    folder: Path = Path("out"),
    full: bool = False,
    place: Checkout = None,
) -> None:
    """Redraw the figures and tables of the papers, with a page for each source.

    In a copy of the project it finds the scripts itself. They are no part of what pip installs; this gets
    them:

    \b
      pip download --no-deps --no-binary fairqueues fairqueues
      tar xf fairqueues-*.tar.gz
      fairqueues reproduce --checkout fairqueues-*/

    Parameters
    ----------
    sources : SOURCE
        Such as drf or psdsf. Default: all.
    folder : DIR
        Where the pages go.
    full
        Longer simulations and finer curves.

    Examples
    --------
    $ fairqueues reproduce drf --folder out
    """
    root = checkout(place)
    known = _sources(root)
    _require_known("source", sources, known)
    require_folder(folder)
    options = ["--out", str(folder.resolve()), *(["--full"] if full else [])]
    modules = [f"examples.{source}" for source in sources] if sources else ["examples"]
    _leave(max(_run(root, [module, *options]) for module in modules))


def bench(
    topics: Annotated[list[str] | None, typer.Argument(autocompletion=_offered(_topics))] = None,
    place: Checkout = None,
) -> None:
    """Measure speed as ratios against a yardstick of the same run.

    The scripts are where those of "fairqueues reproduce" are: see its --help.

    Parameters
    ----------
    topics : TOPIC
        Such as filling. Default: all.

    Examples
    --------
    $ fairqueues bench filling
    """
    root = checkout(place)
    _require_known("topic", topics, _topics(root))
    _leave(_run(root, ["benchmarks", *(topics or ())]))


def checkout(given: Path | None = None) -> Path:
    """Root of the repository; WrongUse, with what to do, if there is none."""
    here = Path.cwd()
    around = [here, *here.parents, Path(__file__).resolve().parents[2]] if given is None else [given]
    for folder in around:
        if (folder / "examples" / "reproduce.py").is_file() and (folder / "benchmarks").is_dir():
            return folder.resolve()
    where = "around this folder" if given is None else f"in {given}"
    from fairqueues.version import __version__

    archive = f"fairqueues-{__version__}"
    raise WrongUse(
        "examples and benchmarks are no part of the wheel, and there is no checkout of the repository "
        f"{where}; get the sdist with pip download --no-deps --no-binary fairqueues fairqueues, unpack it "
        f"with tar xf {archive}.tar.gz, and call this with --checkout {archive}"
    )


def _run(root: Path, arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", *arguments], cwd=root, check=False).returncode


def _require_known(what: str, names: Sequence[str] | None, known: Sequence[str]) -> None:
    from fairness.arguments.plain import near

    for name in names or ():
        if name not in known:
            raise WrongUse(f"unknown {what} {name!r}; {near(name, known)}")


def _leave(code: int) -> None:
    if code:
        raise typer.Exit(code if code in (1, 2) else 1)

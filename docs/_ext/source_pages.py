"""One page per source file that defines mathematics: its docstring, typeset.

The docstring of a module states the model, the formulas and their source before the code. These pages are the
long form of the theory text, and what ``:mod:`` links of the reference lead to.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from types import ModuleType
from typing import Any

PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")
SKIPPED = {"__main__"}


def modules(root: Path) -> dict[str, str]:
    """Dotted names of all modules with a docstring, and their docstrings."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if parts[-1] in SKIPPED:
                continue
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if _is_hidden(name):
                continue
            if doc := ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))):
                found[name] = doc
    return found


def _is_hidden(name: str) -> bool:
    """Whether a public function of the package has the name of the module, so that Sphinx would take it."""
    package, _, last = name.rpartition(".")
    return bool(package) and not isinstance(
        getattr(import_module(package), last, import_module(name)), ModuleType
    )


def front_door(root: Path) -> str:
    """Public names of the packages of ``fairqueues``, but for those of the packages below.

    What verbs return is in the ``results`` of each package.
    """
    lines = ["Library of the front door", "=========================", ""]
    lines += [
        "What is typed most of the packages below is a name of ``fairqueues`` too; its own are these.",
        "",
    ]
    seen = {n for package in PACKAGES[:-1] for n in import_module(package).__all__}
    for path in sorted((root / "fairqueues").rglob("__init__.py"), key=lambda p: len(p.parts)):
        name = ".".join(path.parent.relative_to(root).parts)
        public = [n for n in getattr(import_module(name), "__all__", ()) if n not in seen]
        seen.update(public)
        if public:
            lines += [name, "-" * len(name), "", f".. currentmodule:: {name}", "", ".. autosummary::"]
            lines += ["   :toctree: api", "   :nosignatures:", "", *(f"   {n}" for n in public), ""]
    return "\n".join(lines)


def commands() -> str:
    """What every command says with ``--help``."""
    import os

    from typer.testing import CliRunner

    from fairqueues.commands.app import COMMANDS, app

    os.environ["COLUMNS"] = "90"
    lines = ["Commands", "========", ""]
    for name in COMMANDS:
        result = CliRunner().invoke(app, [name, "--help"], prog_name="fairqueues")
        if result.exit_code != 0:
            raise RuntimeError(f"fairqueues {name} --help failed: {result.output}")
        lines += [name, "-" * len(name), "", ".. code-block:: text", ""]
        lines += [f"   {line}".rstrip() for line in result.output.strip().split("\n")] + [""]
    return "\n".join(lines)


def write(app: Any, config: Any) -> None:
    """Write the pages and their list below ``generated/``."""
    source = Path(app.srcdir)
    folder = source / "generated" / "modules"
    folder.mkdir(parents=True, exist_ok=True)
    rmtree(source / "generated" / "api", ignore_errors=True)  # stubs of names that are gone would stay
    found = modules(source.parent)
    for old in folder.glob("*.rst"):
        if old.stem not in found and old.stem != "index":
            old.unlink()
    write_text(source / "generated" / "front_door.rst", front_door(source.parent))
    write_text(source / "generated" / "commands.rst", commands())
    for name in found:
        title = name.replace("_", r"\_")
        write_text(
            folder / f"{name}.rst",
            f"{title}\n{'=' * len(title)}\n\n.. automodule:: {name}\n   :no-members:\n",
        )
    lines = ["The mathematics, file by file", "=============================", ""]
    lines += ["A file is one idea; this is what each says about itself, formulas and sources included.", ""]
    for package in PACKAGES:
        mine = [name for name in found if name.split(".")[0] == package]
        if not mine:
            continue
        lines += [
            f".. rubric:: {package}",
            "",
            ".. toctree::",
            "   :maxdepth: 1",
            "",
            *(f"   {n}" for n in mine),
            "",
        ]
    write_text(folder / "index.rst", "\n".join(lines))


def write_text(path: Path, text: str) -> None:
    """Write a file unless it says this already, so that nothing is built twice."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

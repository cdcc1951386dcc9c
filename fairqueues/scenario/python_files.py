"""Python files of one's own: run because a person named them, and the policies that they define.

``"mine.py:priority"`` is the policy ``priority`` of the file mine.py, which stands beside the scenario, or in
the current folder where an option names it: a function ``policy(problem, counts) -> tasks``, an object that
is called so, or a class of such objects, which takes parameters as other policies do: ``"mine.py:Powers:2"``
or ``{ policy = "mine.py:Powers", exponent = 2 }``. Nothing else of a scenario is ever run, and a scenario
that is no file, such as a text from elsewhere, runs nothing at all.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from fairness.arguments.plain import near
from fairness.errors import FairqueuesError, ModelError
from fairness.files import WRITTEN, text_of

__all__ = ["in_own_file", "own_policy", "require_answers", "run_python"]

_RUN: set[str] = set()
"""Files that were run, as code knows them."""
_KEPT: dict[tuple[str, Path], Ran] = {}
"""What files have left, by their text and place."""


class Ran(NamedTuple):
    """What is left of a Python file that was run: its variables, and the digest of all that it comes from."""

    variables: dict[str, Any]
    sources: str
    imported: tuple[Path, ...]


def run_python(text: str, file: Path) -> Ran:
    """Run a Python file, once until it changes; what it imports from its folder belongs to it.

    Raises
    ------
    ModelError
        If it stops with an error, of which file and line are told.
    """
    place = file.resolve()
    known = _KEPT.get((text, place))
    if known is not None and known.sources == _digest(text, known.imported):
        return known
    try:
        code = compile(text, str(file), "exec")
    except SyntaxError as error:
        raise ModelError(f"{file}, line {error.lineno}: no valid Python: {error.msg}") from None
    except ValueError as error:  # a null character
        raise ModelError(f"{file}: no valid Python: {error}") from None
    _RUN.add(str(file))
    module = ModuleType(f"own_{file.stem}")
    module.__file__ = str(file)
    before = set(sys.modules)
    sys.modules[module.__name__] = module  # where decorators of classes look for annotations
    sys.path.insert(0, str(place.parent))
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        raise ModelError(_told(error, file)) from None
    finally:
        sys.path.pop(0)
        imported = _forget(set(sys.modules) - before, place.parent)
    imported += _found_there(vars(module), before, place.parent)
    ran = Ran(dict(vars(module)), _digest(text, imported), tuple(imported))
    _KEPT[text, place] = ran
    return ran


def _digest(text: str, imported: Sequence[Path]) -> str:
    """Of a file and what it imports; another one if any of that is gone."""
    found = hashlib.sha256(text.encode())
    for path in imported:
        found.update(path.read_bytes() if path.is_file() else b"gone")
    return found.hexdigest()[:16]


def _forget(names: set[str], folder: Path) -> list[Path]:
    """Have nobody find the file, what it imports from its folder, and what nobody else could import.

    What they define then goes to worker processes whole, and not as a name in a module, and the next file
    imports it for itself. Returned are the files of those that were imported.
    """
    files = []
    tops = {name.partition(".")[0] for name in names}
    own = {top for top in tops if not any(finder.find_spec(top, None) for finder in sys.meta_path)}
    for name in sorted(names):
        source = _source(name)
        if name.partition(".")[0] not in own and not _is_in(source, folder):
            continue
        if source is not None:
            files.append(source)
            _RUN.add(str(source))
        del sys.modules[name]
    return files


def _found_there(variables: Mapping[str, Any], before: set[str], folder: Path) -> list[Path]:
    """Files of the folder that somebody had imported before, and from which variables come."""
    names = {
        getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", None)
        for value in variables.values()
    }
    sources = map(_source, sorted(name for name in names if isinstance(name, str) and name in before))
    return [source for source in sources if source is not None and _is_in(source, folder)]


def _source(name: str) -> Path | None:
    """File of an imported module, as tracebacks call it."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _is_in(source: Path | None, folder: Path) -> bool:
    return source is not None and source.parent.resolve() == folder


def _told(error: BaseException, file: Path) -> str:
    """An error with its last line in this file."""
    return in_own_file(error) or f"{file}: {type(error).__name__}: {error}"


def in_own_file(error: BaseException) -> str | None:
    """An error with the last line of a Python file that was run, if it has come by one."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in _RUN]
    if not frames:
        return None
    return f"{frames[-1].filename}, line {frames[-1].lineno}: {type(error).__name__}: {error}"


def own_policy(
    name: str,
    attribute: str,
    folder: Path | None,
    values: Sequence[Any],
    named: Mapping[str, Any],
) -> Any:
    """The policy of that name in a Python file of this folder; a class is called with the parameters.

    Raises
    ------
    ModelError
        If there is no folder, file, or policy of that name in it, or the parameters are wrong.
    """
    if not attribute:
        raise ModelError(f"say which policy of {name} is meant, such as {name}:priority")
    if folder is None:
        raise ModelError(
            f"policy {name}:{attribute} is that of a Python file beside the scenario, and this scenario is "
            "no file; save it in the folder of that file"
        )
    file = folder / name
    if not file.is_file():
        raise ModelError(f"there is no file {name} in {folder.resolve()}; give its path from there")
    text = text_of(file, "make it readable", most=WRITTEN)
    from fairness.machine.digests import comes_from

    found, sources, _ = run_python(text, file)
    if attribute not in found:
        own = [key for key, value in found.items() if callable(value) and not key.startswith("_")]
        raise ModelError(
            f"{file} defines no {attribute!r}; {near(attribute, own) if own else 'write it there'}"
        )
    policy = found[attribute]
    if isinstance(policy, type):
        try:
            made = policy(*values, **named)
            comes_from(made, f"{sources} with {list(values)}, {dict(named)}")
            return made
        except FairqueuesError:
            raise
        except Exception as error:
            raise ModelError(f"no {attribute} with these parameters: {_told(error, file)}") from None
    if values or named:
        raise ModelError(f"policy {name}:{attribute} takes no parameters, as it is no class; leave them out")
    if not callable(policy):
        raise ModelError(
            f"{name}:{attribute} is {policy!r:.60} and no policy, which is called with a problem and jobs "
            "and answers with tasks; name a function, or an object that is called so"
        )
    comes_from(policy, sources)
    return policy


def require_answers(policy: Any, model: Any, file: Path) -> None:
    """Ask a policy of a file about one job of each class, and about two, before anything long begins.

    Raises
    ------
    ModelError
        If it stops with an error, or its answer is none.
    """
    from fairness.protocol.calling import policy_tasks

    try:
        policy_tasks(model, policy, np.multiply.outer([1.0, 2.0], np.ones(model.n_classes)))
    except FairqueuesError:
        raise
    except Exception as error:
        raise ModelError(_told(error, file)) from None

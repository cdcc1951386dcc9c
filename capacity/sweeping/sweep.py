r"""Parameter sweeps: a model, some policies, a grid of parameters, one labelled Dataset.

A sweep evaluates ``outputs(model(**parameters), policy)`` at every point of a grid. Two things are promised.

* *The result does not depend on who computes what when.* Random streams belong to points: with
  :math:`s` the SeedSequence that ``rng`` gives, point :math:`k` draws from the :math:`k`-th child of
  :math:`s` [1]_, whatever the backend, the number of workers and the order in which points end. The
  Dataset is made of the records that are also written to the checkpoint.
* *A kill loses at most the points that were running.* The checkpoint is a file that takes the record of each
  point when the point ends (:mod:`fairness.machine.checkpoint`).

The points are computed by joblib, one by one in this process unless ``n_jobs`` or
:func:`joblib.parallel_config` says otherwise::

    sweep(..., n_jobs=-1)                                    # all cores (loky)

    with joblib.parallel_config(backend="threading", n_jobs=4):
        sweep(...)

    client = distributed.Client("scheduler:8786")            # a Dask cluster
    with joblib.parallel_config(backend="dask"):
        sweep(...)

    ray.util.joblib.register_ray()                           # a ray cluster
    with joblib.parallel_config(backend="ray", n_jobs=-1):
        sweep(...)

ray and multiprocessing do not hand out results one by one; there the points go out in rounds of four per
worker, and a kill loses at most a round.

Equal bits need outputs that are themselves repeatable: a BLAS may round differently with another number of
threads, so fix it (``OMP_NUM_THREADS=1``) where a point leans on large matrix products.

References
----------
.. [1] M. O'Neill, "Developing a seed_seq alternative", pcg-random.org, 2015, as implemented by
   numpy.random.SeedSequence.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from capacity.sweeping.grid import Grid
from capacity.sweeping.points import STANDARD, Point, StandardOutputs, compute
from capacity.sweeping.results import Results
from fairness.arguments.validation import A_GENERATOR, Seed, require_workers
from fairness.display.storage import loads
from fairness.errors import FairqueuesError, ModelError
from fairness.machine.backends import BackendError, stream
from fairness.machine.bars import bar
from fairness.machine.checkpoint import Checkpoint
from fairness.machine.digests import digest_of, told
from fairness.versions import version
from queueing.simulation.replications import spawn_streams

__all__ = ["SweepInterrupted", "sweep"]

Outputs = Callable[..., Mapping[str, Any]] | Sequence[str] | str
_TOLD = 4
"""Points that a message lists."""


class SweepInterrupted(FairqueuesError):
    """The backend of a sweep failed: a worker died, a cluster went away, the disk is full.

    Attributes
    ----------
    dataset : xarray.Dataset
        The sweep as far as it came; ``error`` says where points were not computed.
    """

    def __init__(self, message: str, *, dataset: xr.Dataset | None = None) -> None:
        super().__init__(message)
        self.dataset = dataset


def sweep(
    model: Callable[..., Any],
    policies: Iterable[Any] | Mapping[str, Any],
    over: Mapping[str, Any],
    outputs: Outputs = ("mean_jobs", "mean_durations", "service_rates"),
    *,
    n_jobs: int | None = None,
    checkpoint: Any = None,
    rng: Seed = None,
    errors: str = "record",
    common_streams: bool = False,
    progress: bool | None = None,
) -> xr.Dataset:
    """Evaluate outputs of a model at every point of a grid.

    Parameters
    ----------
    model : callable
        Called with one keyword per dimension of ``over``; builds a queueing.System, a Problem, a Cluster or
        whatever ``outputs`` understands.
    policies : list of policies or dict
        The dimension "policy", labelled by the names of the policies or by the keys. Beside policies,
        "balanced" and "bound" stand for balanced fairness of a pool and the closed-form bound of it, labelled
        "balanced fairness" and "bound".
    over : dict of str to sequence or dict
        The other dimensions: distinct numbers or strings; values of another type as a dict label -> value.
    outputs : callable, str or sequence of str
        ``outputs(instance, policy)``, or ``outputs(instance, policy, rng=generator)`` if it has a parameter
        of that name, returns a mapping of names to scalars, pairs ``(dims, values)`` or DataArrays; numbers,
        booleans or strings. The dimensions "job_class", "resource" and "server" get the names that the
        instance gives them. Or names of what :func:`queueing.stationary` returns for a System: "mean_jobs",
        "mean_durations", "service_rates", "tail_mass", "residual"; of "balanced" and "bound", what they have,
        else NaN.
    n_jobs : int, optional
        Workers, -1 for all cores. Default: what ``joblib.parallel_config`` says, else 1. A Dask cluster uses
        all workers that it has.
    checkpoint : path, optional
        File to which points are written as they end. If it exists, its points are not computed again; the
        other arguments must be those it was made with. Functions are told by their code and by the values
        and functions of their module that they name; objects of other classes than fairqueues has by their
        ``repr`` and the code of their call: after a change that these do not show take another file.
    rng : seed or numpy Generator, optional
        Source of the random streams. Default: fresh entropy; with a checkpoint that exists, its own.
    errors : {"record", "raise"}
        What becomes of an error that fairqueues raises on purpose at a point, such as UnstableError: NaN and
        the message in the variable ``error``, or an exception. Any other exception propagates.
    common_streams : bool
        Give the policies of one grid point the same stream (common random numbers).
    progress : bool, optional
        Default: a bar with the remaining time, where standard error is a terminal; False: none.

    Returns
    -------
    xarray.Dataset
        Each output with the dimensions of ``over``, "policy" and its own, and ``error``, a string that is
        empty where all went well. Integers and booleans become floats if some point has an error; outputs
        that no point could compute are absent. ``attrs["entropy"]`` repeats the streams, as
        ``rng=int(entropy)``, when ``rng`` was None or an integer; "a generator" where no seed does.

    Raises
    ------
    ModelError
        If an argument is wrong; if the outputs of two points do not fit together; if the checkpoint cannot
        be written, is in use or belongs to another sweep.
    SweepInterrupted
        If a worker dies or the backend fails otherwise. The points that ended are in its ``dataset``, and in
        the checkpoint.

    Examples
    --------
    >>> from fairness import DRF, Problem, ProportionalFair
    >>> from queueing import System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["cpu-bound", "ram-bound"])
    >>> def at(load):
    ...     return System.with_load(pool, [1, 1], load)
    >>> result = sweep(at, [DRF(), ProportionalFair()], {"load": [0.3, 0.5, 1.2]})
    >>> result.mean_durations.sel(job_class="cpu-bound").round(3).to_pandas()
    policy    DRF     PF
    load
    0.3     1.501  1.429
    0.5     2.332  2.000
    1.2       NaN    NaN
    >>> beside = sweep(at, ["balanced", "bound", DRF()], {"load": [0.5]}, "service_rates")
    >>> beside.service_rates.sel(job_class="cpu-bound").round(3).to_pandas()
    policy  balanced fairness  bound    DRF
    load
    0.5                  0.49  0.476  0.429
    >>> print(result.error.sel(load=1.2, policy="DRF").item()[:37])
    UnstableError: no stationary law: the
    """
    grid = Grid.of(policies, over)
    function = _outputs(outputs)
    _require_model(model, grid)
    takes_rng = _takes_rng(function)
    if n_jobs is not None:
        n_jobs = require_workers(n_jobs)
    if errors not in ("record", "raise"):
        raise ModelError.of("errors", f"must be 'record' or 'raise'; got {errors!r}")
    root = _root(rng)

    with ExitStack() as stack:
        results = Results(grid)
        store = None
        if checkpoint is not None:
            store = stack.enter_context(Checkpoint(checkpoint, "sweep", "checkpoint"))
            root = _begun(
                store, _identity(model, grid, outputs, common_streams), root, seeded=rng is not None
            )
            for record in store.read(loads):
                # Who asks for exceptions gets them: what failed is computed again.
                if errors == "record" or not record.error:
                    results.add(record)
        attrs = {"fairqueues": version(), "entropy": _entropy(root)}
        done = len(results.records)
        shown = stack.enter_context(
            bar(what="sweep", unit="point", total=grid.size, initial=done, shown=progress)
        )
        sent: set[int] = set()
        missing = [k for k in range(grid.size) if k not in results.records]

        def tasks() -> Iterator[tuple[Any, ...]]:
            for k in missing:
                sent.add(k)
                number = k // len(grid.policies) if common_streams else k
                seed = _child(root, number) if takes_rng else None
                point = Point(k, grid.describe(k), grid.keywords(k), grid.policy(k), seed)
                yield model, function, point, errors == "record"

        try:
            try:
                for _, text in stack.enter_context(closing(stream(compute, tasks(), n_jobs))):
                    record = loads(text)
                    results.add(record)
                    if store is not None and str(record.index) not in store.pieces:
                        _write(store, str(record.index), text, partial(results.dataset, attrs))
                    shown.update()
            except BackendError as error:
                running = [grid.describe(k) for k in sorted(sent - set(results.records))]
                raise SweepInterrupted(
                    f"{error}; {len(results.records)} of {grid.size} points are done, and under way or next "
                    f"were {'; '.join(running[:_TOLD])}{', ...' if len(running) > _TOLD else ''}",
                    dataset=results.dataset(attrs),
                ) from error
            return results.dataset(attrs)
        except BaseException as error:
            if store is not None and store.kept:
                error.add_note(
                    f"sweep: {store.kept} of {grid.size} points are kept in {store.path}; the same "
                    "call goes on from there"
                )
            raise


def _begun(
    store: Checkpoint, identity: dict[str, Any], root: np.random.SeedSequence, *, seeded: bool
) -> np.random.SeedSequence:
    """The root of the streams once the file is begun, or goes on; without a seed the file has it."""
    seed: Any = _state(root)
    if not seeded and store.settings is not None:
        seed = store.settings.get("rng")
    store.begin({**identity, "rng": seed})
    entropy, key, size = seed
    return np.random.SeedSequence(entropy, spawn_key=key, pool_size=size)


def _write(store: Checkpoint, key: str, text: str, so_far: Callable[[], xr.Dataset]) -> None:
    """Keep the record of a point."""
    try:
        store.write(key, text)
    except OSError as error:
        raise SweepInterrupted(
            f"the checkpoint {store.path} can no longer be written: {error}", dataset=so_far()
        ) from error


# --- streams -------------------------------------------------------------------------------------------


def _root(rng: Seed) -> np.random.SeedSequence:
    """SeedSequence of which the streams of the points are children."""
    root = spawn_streams(rng, 1).generators[0].bit_generator.seed_seq
    assert isinstance(root, np.random.SeedSequence)  # only these can spawn
    return root


def _state(root: np.random.SeedSequence) -> list[Any]:
    """What makes a SeedSequence, as JSON takes it."""
    entropy: Any = root.entropy
    plain = int(entropy) if isinstance(entropy, numbers.Integral) else [int(word) for word in entropy]
    return [plain, list(root.spawn_key), root.pool_size]


def _entropy(root: np.random.SeedSequence) -> str:
    """Seed whose sweep has this root, as text."""
    again = _state(_child(np.random.SeedSequence(root.entropy), 0))
    return str(root.entropy) if _state(root) == again else A_GENERATOR


def _child(root: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """What ``root.spawn`` would give as its child of this number, without the children before it."""
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number), pool_size=root.pool_size)


# --- arguments -----------------------------------------------------------------------------------------


def _outputs(outputs: Outputs) -> Callable[..., Any]:
    """Function of an instance and a policy."""
    if callable(outputs):
        return outputs
    if not isinstance(outputs, Iterable):
        raise ModelError.of("outputs", f"must be a function or names; got {outputs!r}")
    names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    unknown = next((name for name in names if name not in STANDARD), None)
    if unknown is not None or not names or len(set(names)) < len(names):
        raise ModelError.of(
            "outputs", f"must be a function, or distinct names among {', '.join(STANDARD)}; got {names}"
        )
    return StandardOutputs(names)


def _takes_rng(function: Callable[..., Any]) -> bool:
    """Whether outputs want a generator; ModelError if they cannot be called as they will be."""
    signature = _signature(function)
    if signature is None:
        return False
    takes = "rng" in signature.parameters
    try:
        signature.bind(None, None, **({"rng": None} if takes else {}))
    except TypeError as error:
        raise ModelError.of(
            "outputs",
            f"must be callable as outputs(instance, policy) or outputs(instance, policy, rng=...): {error}",
        ) from None
    return takes


def _require_model(model: Any, grid: Grid) -> None:
    if not callable(model):
        raise ModelError.of("model", f"must be a function of the dimensions of over; got {model!r}")
    signature = _signature(model)
    if signature is None:
        return
    try:
        signature.bind(**grid.keywords(0))
    except TypeError as error:
        names = ", ".join(grid.values)
        raise ModelError.of(
            "model", f"must be callable with the dimensions of over as keywords ({names}): {error}"
        ) from None


def _signature(function: Any) -> inspect.Signature | None:
    """None where a builtin does not tell."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _identity(model: Any, grid: Grid, outputs: Outputs, common_streams: bool) -> dict[str, Any]:
    """What the records of a checkpoint depend on, by the names that a message calls it."""
    values = {name: [_plain(value) for value in axis] for name, axis in grid.values.items()}
    objects = {name: digests for name, axis in grid.values.items() if any(digests := _digests(axis))}
    return {
        "version": version(),
        "model": told(model),
        "code of the model": digest_of(model),
        "outputs": told(outputs) if callable(outputs) else ", ".join(_outputs(outputs).names),  # type: ignore[attr-defined]
        "code of outputs": digest_of(outputs) if callable(outputs) else "",
        "dimensions": list(grid.dims),
        **{f"{name!r}": list(labels) for name, labels in grid.labels.items()},
        **{f"values of {name!r}": told for name, told in values.items() if told != list(grid.labels[name])},
        "parameters of the policies": [_plain(policy) for policy in grid.policies],
        **{f"all of the values of {name!r}": digests for name, digests in objects.items()},
        "all of the policies": _digests(grid.policies),
        "common_streams": bool(common_streams),
    }


def _plain(value: Any) -> Any:
    """A number or string itself, of anything else what is told of it."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, bool | int | float | str) else told(plain)


def _digests(values: Iterable[Any]) -> list[str]:
    """Of each object all that it holds; empty for numbers and strings, which are told whole."""
    plain = bool | int | float | str | np.generic
    return ["" if isinstance(value, plain) else digest_of(value) for value in values]

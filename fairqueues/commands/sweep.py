"""``sweep``: stationary means of every policy over a grid of parameters, kept point by point.

What is computed is appended to a checkpoint as the points end. A sweep that was interrupted, by Ctrl-C or
by a kill, goes on from there when the same command is given again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from fairqueues.console.command import command
from fairqueues.console.inputs import chain_options, chosen, heading, read, seed_of
from fairqueues.console.options import Backend, BackendOption, File, Jobs, Policies, Seed
from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Outcome

__all__ = ["sweep"]


@command(writes="checkpoint")
def sweep(
    deliver: Delivery,
    file: File,
    policy: Policies = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Keep finished points here. Default: that of [sweep], else the first --out with .part, "
            "which is removed at the end.",
        ),
    ] = None,
    jobs: Jobs = 1,
    backend: BackendOption = Backend.LOKY,
    seed: Seed = None,
) -> None:
    """Evaluate every policy over the grid of [sweep]; give the same command again to go on after a stop."""
    scenario = read(file)
    section = scenario.section("sweep")
    policies = chosen(scenario, policy)
    entropy = seed_of(seed, scenario)
    path, passing = _checkpoint(checkpoint, section.checkpoint, deliver.out)
    options = chain_options(scenario)
    shape = options.get("shape")
    options |= {"shape": tuple(shape)} if isinstance(shape, list) else {}

    import capacity
    from capacity.sweeping.points import StandardOutputs
    from fairqueues.console.backends import workers
    from fairqueues.console.figures import sweep_lines

    with workers(backend, jobs):
        dataset = capacity.sweep(
            scenario.swept_model,
            policies,
            scenario.sweep_values,
            StandardOutputs(tuple(section.outputs), tuple(options.items())),
            n_jobs=None if backend is not Backend.LOKY else jobs,
            checkpoint=path,
            rng=entropy,
        )
    errors = [str(text) for text in dataset.error.values.ravel() if text]
    unstable = [text for text in errors if text.startswith("UnstableError")]
    # An unstable point is an answer; a solver that gave up is not.
    failures = tuple(text for text in errors if text not in unstable)
    along = next(iter(scenario.sweep_values))
    wanted = "service_rates" if "service_rates" in section.outputs else section.outputs[0]
    notes = [f"{dataset.error.size} points, {len(unstable)} of them without a stationary law"]
    deliver(
        Outcome(
            heading("Sweep", scenario),
            dataset.to_dataframe(),
            notes=tuple(notes),
            failures=failures,
            figure=(lambda: sweep_lines(dataset, along, wanted)) if wanted in dataset else None,
            dataset=dataset,
            scenario=scenario.text,
            seed=entropy,
        )
    )
    if passing and path is not None:
        with suppress(FileNotFoundError):
            path.unlink()


def _checkpoint(given: Path | None, of_file: str | None, out: Sequence[Path]) -> tuple[Path | None, bool]:
    """Where points are kept, and whether only until the result is written."""
    from fairqueues.files import require_writable

    if given is not None:
        return given, False
    if of_file is not None:
        path = Path(of_file)
        require_writable(path)
        if path in out:
            raise WrongUse(f"{path} is both the checkpoint and the result; choose another name")
        return path, False
    if out:
        return out[0].with_name(out[0].name + ".part"), True
    return None, False

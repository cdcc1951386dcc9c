"""``sweep``: stationary means of every method over a grid of parameters, kept point by point.

What is computed is appended to a checkpoint as the points end. A sweep that was interrupted, by Ctrl-C or
by a kill, goes on from there when the same command is given again.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fairqueues.console.command import Call, command
from fairqueues.console.inputs import chain_options, labelled
from fairqueues.console.options import File, Methods

__all__ = ["sweep"]


@command("jobs", "backend", "seed", writes="checkpoint")
def sweep(
    call: Call,
    file: File,
    method: Methods = None,
    checkpoint: Path | None = None,
) -> None:
    """Evaluate every method over the grid of [sweep]; give the same command again to go on after a stop.

    Methods are policies, balanced fairness ("balanced") and the closed-form bound of it ("bound"): those of
    [sweep], else the policies of the file; --policy takes all of them.

    Parameters
    ----------
    checkpoint : FILE
        Keep finished points here. Default: that of [sweep], else the first --out with .part, which is
        removed at the end.

    Examples
    --------
    $ fairqueues sweep talk_sweep --out rates.csv --checkpoint rates.part
    """
    scenario = call.read(file)
    section = scenario.section("sweep")
    named = [scenario.sweep_method(name, Path()) for name in method or ()]
    written = method or section.methods or scenario.document.policies
    policies = labelled(named or scenario.sweep_methods, written)
    options = chain_options(scenario)
    shape = options.get("shape")
    options |= {"shape": tuple(shape)} if isinstance(shape, list) else {}

    import capacity
    from capacity.sweeping.points import StandardOutputs
    from fairqueues.console.figures import sweep_lines

    with call.to.finished_points(checkpoint, section.checkpoint) as kept:
        with call.workers() as n_jobs:
            dataset = capacity.sweep(
                scenario.swept_model,
                policies,
                scenario.sweep_values,
                StandardOutputs(tuple(section.outputs), tuple(options.items())),
                n_jobs=n_jobs,
                checkpoint=kept,
                rng=call.seed,
            )
        errors = [str(text) for text in dataset.error.values.ravel() if text]
        unstable = [text for text in errors if text.startswith("UnstableError")]
        along = next(iter(scenario.sweep_values))
        wanted = "service_rates" if "service_rates" in section.outputs else section.outputs[0]
        notes = [f"{dataset.error.size} points, {len(unstable)} of them without a stationary law"]
        notes += [f"{number} of them: {text}" for text, number in Counter(unstable).items()]
        table = dataset.to_dataframe()
        call.deliver(
            "Sweep",
            table,
            brief=table.drop(columns="error"),
            notes=notes,
            # An unstable point is an answer; a solver that gave up is not.
            failures=(text for text in errors if text not in unstable),
            figure=(lambda: sweep_lines(dataset, along, wanted)) if wanted in dataset else None,
            dataset=dataset,
            seed=call.seed,
        )

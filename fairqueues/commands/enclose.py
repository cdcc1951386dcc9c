"""``enclose``: proved bounds of the stationary means of a finite chain that another tool wrote."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairness.errors import ModelError
from fairqueues.console.command import command
from fairqueues.console.output import Delivery
from fairqueues.report.outcome import Evidence, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from queueing import FiniteChain

__all__ = ["enclose"]


@command(writes="certificate")
def enclose(
    deliver: Delivery,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="CHAIN",
            help="NAME.tra (PRISM; NAME.sta, .lab and .srew are read with it), NAME.mtx (Matrix Market) "
            "or NAME.drn (Storm); may be compressed (.gz).",
            show_default=False,
        ),
    ],
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="NAME",
            help="Reward, variable or label; may be repeated. Default: all that are numbers.",
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            "--width",
            metavar="W",
            help="Largest difference of the bounds, part of the mean. Default: 1e-12.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="Write the certificate (.json, .json.gz)."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compute the means as fractions instead of bounds.")
    ] = False,
) -> None:
    """Enclose stationary means of a finite chain between proved bounds."""
    from fairqueues.console.progress import reached
    from fairqueues.exchange import read_chain
    from queueing import enclose_chain

    chain = read_chain(file)
    if exact:
        if certificate is not None:
            raise ModelError.of("exact", "has no certificate; leave out one of --exact and --certificate")
        if width is not None:
            raise ModelError.of("exact", "has no width, as nothing is rounded; leave out --width")
        _exact(deliver, file, chain, of)
        return
    bounded = partial(enclose_chain, chain, of or None)
    call = {file.name: bounded if width is None else partial(bounded, width=width)}
    found, failures = reached(call, "enclose", unit="chain")
    enclosure: Any = found[file.name]
    proof, short = enclosure.certificate, enclosure.shortfall
    if short:
        failures = (*failures, f"{file.name}: {short}; raise width (here: --width)")
    claim = f"checked in {len(proof.states)} states, found by {enclosure.method}"
    deliver(
        Outcome(
            f"Proved bounds of stationary means: {file.name}",
            enclosure.to_dataframe(),
            (
                Evidence("certificate", claim),
                Evidence("bounds", "largest relative width", enclosure.reached, bound="upper"),
            ),
            notes=(repr(chain),),
            failures=failures,
            figure=partial(_figure, enclosure),
            extra={"states": len(proof.states), "transitions": chain.n_transitions},
            files={} if certificate is None else {certificate: proof.save},
        )
    )


def _exact(deliver: Delivery, file: Path, chain: FiniteChain, of: list[str] | None) -> None:
    """The means as fractions, which nothing has rounded."""
    import pandas as pd

    from fairqueues.console.progress import reached
    from queueing import exact_means

    call = {file.name: partial(exact_means, chain, of or None)}
    found, failures = reached(call, "enclose", unit="chain")
    means = found[file.name]
    rows = {
        "mean": [float(value) for value in means.values()],
        "exact": [str(value) for value in means.values()],
    }
    table = pd.DataFrame(rows, index=pd.Index(list(means), name="mean of"))
    longest = max(value.denominator.bit_length() for value in means.values())
    deliver(
        Outcome(
            f"Exact stationary means: {file.name}",
            table,
            (Evidence("exact", f"fractions with denominators of up to {longest} bits, proved"),),
            notes=(repr(chain),),
            failures=failures,
            extra={"states": chain.n_states, "transitions": chain.n_transitions},
        )
    )


def _figure(enclosure: Any) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    enclosure.plot(figure.add_subplot())
    return figure

"""``enclose``: proved bounds of the stationary means of a finite chain that another tool wrote."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairness.errors import ModelError
from fairqueues.console.command import Call, command
from fairqueues.report.outcome import Evidence

if TYPE_CHECKING:
    from queueing import FiniteChain

__all__ = ["enclose"]


@command(writes="certificate")
def enclose(
    call: Call,
    file: Path,
    of: list[str] | None = None,
    width: Annotated[float | None, typer.Option(show_default=False)] = None,
    certificate: Path | None = None,
    exact: bool = False,
) -> None:
    """Enclose stationary means of a finite chain between proved bounds.

    Parameters
    ----------
    file : CHAIN
        NAME.tra (PRISM; NAME.sta, .lab and .srew are read with it), NAME.mtx (Matrix Market) or NAME.drn
        (Storm); may be compressed (.gz).
    of : NAME
        Reward, variable or label; may be repeated. Default: all that are numbers.
    width : W
        Largest difference of the bounds, part of the mean. Default: 1e-12.
    exact
        Compute the means as fractions instead of bounds.

    Examples
    --------
    $ fairqueues enclose chain.tra --of x1 --certificate x1.json.gz
    """
    from fairqueues.console.figures import drawn
    from fairqueues.exchange import read_chain
    from queueing import enclose_chain

    chain = read_chain(file)
    if exact:
        if certificate is not None:
            raise ModelError.of("exact", "has no certificate; leave out one of --exact and --certificate")
        if width is not None:
            raise ModelError.of("exact", "has no width, as nothing is rounded; leave out --width")
        _exact(call, file, chain, of)
        return
    bounded = partial(enclose_chain, chain, of or None)
    bounded = bounded if width is None else partial(bounded, width=width)
    enclosure: Any = call.run({file.name: bounded}, unit="chain")[file.name]
    proof, short = enclosure.certificate, enclosure.shortfall
    claim = f"checked in {len(proof.states)} states, found by {enclosure.method}"
    call.deliver(
        f"Proved bounds of stationary means: {file.name}",
        enclosure.to_dataframe(),
        (
            Evidence("certificate", claim),
            Evidence("bounds", "largest relative width", enclosure.reached, bound="upper"),
        ),
        notes=(repr(chain),),
        failures=[f"{file.name}: {short}; raise width (here: --width)"] * bool(short),
        figure=lambda: drawn([enclosure], 5.8, 4.2),
        extra={"states": len(proof.states), "transitions": chain.n_transitions},
        files={} if certificate is None else {certificate: proof.save},
    )


def _exact(call: Call, file: Path, chain: FiniteChain, of: list[str] | None) -> None:
    """The means as fractions, which nothing has rounded."""
    import pandas as pd

    from queueing import exact_means

    means = call.run({file.name: partial(exact_means, chain, of or None)}, unit="chain")[file.name]
    rows = {
        "mean": [float(value) for value in means.values()],
        "exact": [str(value) for value in means.values()],
    }
    table = pd.DataFrame(rows, index=pd.Index(list(means), name="mean of"))
    longest = max(value.denominator.bit_length() for value in means.values())
    call.deliver(
        f"Exact stationary means: {file.name}",
        table,
        [Evidence("exact", f"fractions with denominators of up to {longest} bits, proved")],
        notes=(repr(chain),),
        extra={"states": chain.n_states, "transitions": chain.n_transitions},
    )

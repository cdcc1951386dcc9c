r"""Requests to Azure's inference services for large language models, 2023 and 2024 [1]_, [2]_.

Files ``AzureLLMInferenceTrace_*.csv`` at https://github.com/Azure/AzurePublicDataset (licence CC-BY 4.0):
``TIMESTAMP`` (when the request came), ``ContextTokens`` and ``GeneratedTokens``. They record no durations and
no resources. What a request holds follows from what its server does, so the caller says it: with p tokens of
context read per second and g tokens generated per second,

.. math:: \text{duration} = \text{context}/p + \text{generated}/g,

and while it runs, a request holds one place in the batch and the cache of all its tokens, of the context and
generated.

References
----------
.. [1] P. Patel, E. Choukse, C. Zhang, A. Shah, Í. Goiri, S. Maleki and R. Bianchini, "Splitwise: efficient
   generative LLM inference using phase splitting", ISCA 2024.
.. [2] J. Stojkovic, C. Zhang, Í. Goiri, J. Torrellas and E. Choukse, "DynamoLLM: designing LLM inference
   clusters for performance and energy efficiency", HPCA 2025.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairness.arguments.validation import require_number
from fairness.errors import ModelError
from fairqueues.traces.reading.gathering import Gathering
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows, pieces

__all__ = ["read_azure_llm"]

RESOURCES, UNITS = ("places", "cache"), ("requests", "tokens")
NANOSECONDS = 1_000_000_000
YEARS = (1970, 2261)
"""Whose nanoseconds 64 bits can count."""


def read_azure_llm(
    requests: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    *,
    context_rate: float,
    generation_rate: float,
) -> ClusterTrace:
    """Read requests to inference services.

    Parameters
    ----------
    requests : path, or mapping from name to path
        A CSV file of one service, or several by the names of their services, which are the users.
    context_rate, generation_rate : float, tokens per second
        How fast one request's context is read, and its tokens are generated: properties of a server, which
        the trace does not record.

    Returns
    -------
    ClusterTrace
        Seconds from the first request of all.

    Raises
    ------
    ModelError
        With file, line and field, if a column is missing, a time is none, or a number of tokens is negative.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "code.csv")
    >>> _ = file.write_text(
    ...     "TIMESTAMP,ContextTokens,GeneratedTokens\\n"
    ...     "2023-11-16 18:17:03.9799600,4000,10\\n2023-11-16 18:17:04.4799600,2000,20\\n"
    ... )
    >>> trace = read_azure_llm({"code": file}, context_rate=8000, generation_rate=40)
    >>> trace.arrivals, trace.durations
    (array([0. , 0.5]), array([0.75, 0.75]))
    >>> folder.cleanup()
    """
    reading = require_number("context_rate", context_rate, above=0, hint=", tokens per second")
    writing = require_number("generation_rate", generation_rate, above=0, hint=", tokens per second")
    files = dict(requests) if isinstance(requests, Mapping) else {Path(requests).stem: requests}
    if not files:
        raise ModelError.of("requests", "names no file; give the path of one")
    gathering = Gathering(
        f"Azure LLM inference, {', '.join(Path(path).name for path in files.values())}", RESOURCES, UNITS
    )
    # Whole nanoseconds from the first time that is read: seconds since 1970 would lose some.
    origin: int | None = None
    earliest = 0
    for name, path in files.items():
        for rows in pieces(path, ["ContextTokens", "GeneratedTokens"], ["TIMESTAMP"]):
            times = _nanoseconds(rows)
            if origin is None:
                origin = int(times[0])
            since = times - origin
            earliest = min(earliest, int(since.min()))
            context = rows.numbers("ContextTokens", least=0, whole=True)
            generated = rows.numbers("GeneratedTokens", least=0, whole=True)
            gathering.add(
                rows,
                [("TIMESTAMP", since / NANOSECONDS)],
                [("TIMESTAMP", np.ones(len(rows))), ("ContextTokens", context + generated)],
                np.full(len(rows), name, dtype=object),
                durations=("GeneratedTokens", context / reading + generated / writing),
            )
    gathering.notes.append(
        f"durations are not recorded: {reading:g} tokens of context read and {writing:g} generated per second"
    )
    return gathering.trace(origin=earliest / NANOSECONDS)


def _nanoseconds(rows: Rows) -> Any:
    texts = rows.texts("TIMESTAMP")
    times = pd.to_datetime(pd.Series(texts), errors="coerce", utc=True, format="ISO8601")
    known = times.dt.year.between(*YEARS).to_numpy()
    told = "must be a time such as 2023-11-16 18:17:03.979, of the years {} to {}".format(*YEARS)
    rows.refuse("TIMESTAMP", ~known, told)
    return times.dt.as_unit("ns").astype("int64").to_numpy()

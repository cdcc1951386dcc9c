r"""Storm's direct encoding of a chain (DRN), written and read.

A head of sections (``@type: CTMC``, ``@reward_models``, ``@nr_states``, ...), and after ``@model`` for each
state a line ``state x !rate [rewards] labels``, with the rate at which it is left, one action, and its rates
``y : rate``.

References
----------
C. Hensel, S. Junges, J.-P. Katoen, T. Quatmann and M. Volk, "The probabilistic model checker Storm", STTT 24,
2022. DOI 10.1007/s10009-021-00633-z.
"""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from fairqueues.exchange.prism import INITIAL, row_pieces
from fairqueues.text_files import TextFile, readable
from queueing.model.finite_chain import FiniteChain

__all__ = ["read_drn", "write_drn"]

TYPES = ("CTMC", "DTMC")
SECONDS = 2e-6
"""Guess of the time that a line takes."""

_STATE = re.compile(r"state\s+(\d+)(?:\s+!(\S+))?(?:\s+\[([^\]]*)\])?\s*(.*)")


def write_drn(path: Path, chain: FiniteChain) -> None:
    """NAME.drn, with all digits; state 0 is where the chain starts unless a label says so."""
    leave = (-chain.generator().diagonal()).tolist()
    labels = (
        chain.labels if INITIAL in chain.labels else {INITIAL: np.arange(chain.n_states) == 0, **chain.labels}
    )
    names = "".join(f" {_word(name)}" for name in chain.rewards).strip()
    rewards = list(chain.rewards.values())
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"@type: CTMC\n@parameters\n\n@reward_models\n{names}\n")
        file.write(f"@nr_states\n{chain.n_states}\n@nr_choices\n{chain.n_states}\n@model\n")
        for x, targets, rates in row_pieces(chain):
            earned = f" [{', '.join(repr(float(r[x])) for r in rewards)}]" if rewards else ""
            named = "".join(f" {_word(name)}" for name, states in labels.items() if states[x])
            file.write(f"state {x} !{leave[x]!r}{earned}{named}\n\taction 0\n")
            file.writelines(f"\t\t{y} : {rate!r}\n" for y, rate in zip(targets, rates, strict=True))


def read_drn(path: Path) -> tuple[sparse.coo_array, dict[str, FloatArray], dict[str, NDArray[np.bool_]]]:
    """Rates, state rewards and labels of NAME.drn.

    Raises
    ------
    ModelError
        One line that names the file and the line: if it is no chain, or damaged.
    """
    with readable(path, comment="//") as file:
        n, names = _sections(file)
        rewards = {name: np.zeros(n) for name in names}
        labels: dict[str, NDArray[np.bool_]] = {}
        sources, targets, rates = array("i"), array("i"), array("d")
        state, actions = -1, 0
        with Task(f"reading {path.name}", n, "states", SECONDS * 6 * n, "give a smaller chain") as task:
            for line in file.lines():
                first = line.split(None, 1)[0]
                if first == "state":
                    if actions != 1 and state >= 0:
                        file.fail(f"state {state} before this line has no action; give it one")
                    match = _STATE.fullmatch(line)
                    if match is None or int(match[1]) != state + 1 or state + 1 >= n:
                        file.fail(
                            f"expected 'state {state + 1} ...' of states 0 to {n - 1}; got {line!r:.80}"
                        )
                    state, actions = state + 1, 0
                    task.advance()
                    for name, value in zip(names, _numbers(file, match[3], len(names)), strict=True):
                        rewards[name][state] = value
                    for name in match[4].split():
                        labels.setdefault(name, np.zeros(n, dtype=bool))[state] = True
                elif first == "action":
                    actions += 1
                    if state < 0 or actions > 1:
                        file.fail("a chain has one action in each state; this is a decision process")
                    if "[" in line and any(
                        _numbers(file, line[line.index("[") + 1 :].rstrip("]"), len(names))
                    ):
                        file.fail("rewards of actions are not read; give rewards of states")
                else:
                    target, colon, rate = line.partition(":")
                    if not colon or not target.strip().isdigit() or actions != 1:
                        file.fail(f"expected a target and a rate, such as '3 : 0.5'; got {line!r:.80}")
                    if int(target) >= n:
                        file.fail(f"state {target.strip()} is none of 0 to {n - 1}; correct the number")
                    sources.append(state)
                    targets.append(int(target))
                    rates.append(_rate(file, rate))
        if state + 1 < n or actions != 1:
            file.fail(f"the file ends with {state + 1} of {n} announced states; is it cut off?")
    entries = np.array(rates), (np.array(sources, dtype=np.int32), np.array(targets, dtype=np.int32))
    return sparse.coo_array(entries, shape=(n, n)), rewards, labels


def _sections(file: TextFile) -> tuple[int, list[str]]:
    """Number of states and names of the rewards, from the head of the file."""
    n, names, section = 0, list[str](), ""
    for line in file.lines():
        if line.startswith("@"):
            section, _, value = line.partition(":")
            if section == "@type" and value.strip() not in TYPES:
                file.fail(f"the model is of type {value.strip()!r}; a chain is one of {', '.join(TYPES)}")
            if section == "@model":
                if not n:
                    file.fail("the section @nr_states is missing; write it before @model")
                return n, names
        elif section == "@reward_models":
            names += line.split()
        elif section == "@nr_states":
            if not (line.isascii() and line.isdigit()):
                file.fail(f"expected the number of states; got {line!r:.80}")
            n = int(line)
            file.require_states(n)
        elif section == "@parameters":
            file.fail("a model with parameters has no numbers for rates; give their values first")
    file.fail("the section @model is missing; give a file in Storm's direct encoding")


def _rate(file: TextFile, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        file.fail(f"{word.strip()!r:.40} is no number; write a rate such as 0.5")
    if not 0 <= value < np.inf:
        file.fail(f"a rate must be finite and >= 0; got {value}")
    return value


def _numbers(file: TextFile, text: str | None, count: int) -> list[float]:
    """Rewards between brackets; zeros where there are none."""
    if text is None or not text.strip():
        return [0.0] * count
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        file.fail(f"rewards must be numbers with commas between them; got {text!r:.80}")
    if len(values) != count or not np.isfinite(values).all():
        file.fail(f"expected {count} finite rewards, one for each name in @reward_models; got {text!r:.80}")
    return values


def _word(name: str) -> str:
    """A name without blanks, which end a name here."""
    return "_".join(name.split())

r"""PRISM's explicit files: transitions, states, labels and state rewards, written and read.

========== ===================================================== ==========================================
file       first line                                            other lines
========== ===================================================== ==========================================
NAME.tra   numbers of states and of transitions                  ``x y rate``
NAME.sta   names of the variables, ``(x1,x2)``                   ``x:(2,0)``, a line for each state
NAME.lab   numbers of the labels, ``0="init" 1="deadlock"``      ``x: 0 3``, labels of some states
NAME.srew  numbers of states and of rewards that are not 0       ``x reward``
========== ===================================================== ==========================================

States count from 0. A file of rewards tells its name in the comment ``# Reward structure "name"``, or else by
its own name; several are called NAME1.srew, NAME2.srew, ... Probabilities of a chain in discrete time may
stand where rates do: its stationary law is the same. Actions behind a rate are passed over.

References
----------
M. Kwiatkowska, G. Norman and D. Parker, "PRISM 4.0: verification of probabilistic real-time systems",
CAV 2011, DOI 10.1007/978-3-642-22110-1_47; manual, appendix "Explicit model files".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.model.problem import FloatArray
from fairqueues.text_files import TextFile, readable
from queueing.model.finite_chain import FiniteChain

__all__ = [
    "chunks",
    "read_labels",
    "read_rewards",
    "read_states",
    "read_transitions",
    "row_pieces",
    "write_labels",
    "write_rewards",
    "write_states",
    "write_transitions",
]

CHUNK = 1 << 14
"""States turned into text at a time."""

INITIAL, DEADLOCK = "init", "deadlock"
"""Labels that every file has."""

_LABEL = re.compile(r'(\d+)="([^"]*)"')
_REWARD = re.compile(r'#\s*Reward structure\s+"?([^"]+)"?\s*$')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = str.maketrans(":(),", "    ")


def chunks(states: int) -> list[slice]:
    """The states in pieces."""
    return [slice(k, min(k + CHUNK, states)) for k in range(0, states, CHUNK)]


def row_pieces(chain: FiniteChain) -> Iterator[tuple[int, list[int], list[float]]]:
    """Each state with the targets of its rates and these."""
    starts = chain.starts
    for piece in chunks(chain.n_states):
        first, last = starts[piece.start], starts[piece.stop]
        targets, rates = chain.targets[first:last].tolist(), chain.rates[first:last].tolist()
        ends = (starts[piece.start : piece.stop + 1] - first).tolist()
        for k, state in enumerate(range(piece.start, piece.stop)):
            yield state, targets[ends[k] : ends[k + 1]], rates[ends[k] : ends[k + 1]]


def write_transitions(path: Path, chain: FiniteChain) -> None:
    """NAME.tra, with all digits of the rates."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{chain.n_states} {chain.n_transitions}\n")
        for state, targets, rates in row_pieces(chain):
            file.writelines(f"{state} {y} {rate!r}\n" for y, rate in zip(targets, rates, strict=True))


def write_states(path: Path, chain: FiniteChain) -> None:
    """NAME.sta; a variable whose name PRISM would not read is called by its place, x1, x2, ..."""
    names = [name if _NAME.fullmatch(name) else f"x{k + 1}" for k, name in enumerate(chain.variables)]
    columns = list(chain.variables.values())
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"({','.join(names)})\n")
        for piece in chunks(chain.n_states):
            rows = [[_short(value) for value in column[piece].tolist()] for column in columns]
            states = range(piece.start, piece.stop)
            file.writelines(
                f"{k}:({','.join(row)})\n" for k, row in zip(states, zip(*rows, strict=True), strict=True)
            )


def write_labels(path: Path, chain: FiniteChain) -> None:
    """NAME.lab; state 0 is where the chain starts unless a label says so, and no state is a deadlock."""
    first = np.zeros(chain.n_states, dtype=bool)
    first[0] = True
    sets = {INITIAL: chain.labels.get(INITIAL, first), DEADLOCK: np.zeros(chain.n_states, dtype=bool)}
    sets |= {name: states for name, states in chain.labels.items() if name not in sets}
    some = np.logical_or.reduce(list(sets.values()))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(" ".join(f'{k}="{name}"' for k, name in enumerate(sets)) + "\n")
        for state in np.flatnonzero(some).tolist():
            file.write(f"{state}: {' '.join(str(k) for k, s in enumerate(sets.values()) if s[state])}\n")


def write_rewards(path: Path, name: str, rewards: FloatArray) -> None:
    """NAME.srew."""
    there = np.flatnonzero(rewards)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'# Reward structure "{name}"\n# State rewards\n{len(rewards)} {len(there)}\n')
        file.writelines(f"{x} {r!r}\n" for x, r in zip(there.tolist(), rewards[there].tolist(), strict=True))


def read_transitions(path: Path) -> sparse.coo_array:
    """Rates of NAME.tra."""
    with readable(path) as file:
        words = file.line("the numbers of states and of transitions, such as '4 6'").split()
        if len(words) == 3:
            file.fail(
                "three numbers are the head of a decision process, in which somebody chooses; export a "
                "chain, whose file begins with the numbers of states and of transitions"
            )
        n, count = _head(file, words, "transitions")
        table = file.table(count, "transitions", (int, int, float), "0 1 2.5", _without_action)
        rows, columns = np.empty((2, count), dtype=np.int32)
        rates, filled = np.empty(count), 0
        for (source, target, rate), lines in table:
            for states in (source, target):
                _require_states(file, states, lines, n)
            file.refuse(rate < 0, lines, lambda _: "a rate must be >= 0; correct the number")
            here = slice(filled, filled + len(rate))
            rows[here], columns[here], rates[here] = source, target, rate
            filled += len(rate)
    return sparse.coo_array((rates, (rows, columns)), shape=(n, n))


def read_states(path: Path, n: int) -> dict[str, FloatArray]:
    """Variables of NAME.sta; true and false are 1 and 0."""
    with readable(path) as file:
        head = file.line("the names of the variables, such as '(x,y)'")
        names = [name.strip() for name in head[1:-1].split(",")] if head[0] + head[-1] == "()" else []
        if not all(names) or not names:
            file.fail(f"expected the names of the variables, such as '(x,y)'; got {head!r:.80}")
        if len(set(names)) < len(names):
            file.fail(f"a name stands twice among {', '.join(names)}; rename one of the variables")
        example = f"0:({','.join('1' for _ in names)})"
        table = file.table(n, "states", [int, *(float for _ in names)], example, _plain_state)
        values, seen = np.empty((len(names), n)), np.zeros(n, dtype=bool)
        for (states, *columns), lines in table:
            _require_states(file, states, lines, n)
            _require_once(file, seen, states, lines, "state")
            for variable, column in zip(values, columns, strict=True):
                variable[states] = column
    return dict(zip(names, values, strict=True))


def read_labels(path: Path, n: int) -> dict[str, NDArray[np.bool_]]:
    """Labels of NAME.lab, without those of deadlocks where there are none."""
    with readable(path) as file:
        head = file.line("""the names of the labels, such as '0="init" 1="full"'""")
        found = _LABEL.findall(head)
        if not found or _LABEL.sub("", head).strip():
            file.fail(f"""expected the names of the labels, such as '0="init" 1="full"'; got {head!r:.80}""")
        names = {int(number): name for number, name in found}
        sets = {name: np.zeros(n, dtype=bool) for name in names.values()}
        if len(names) < len(found) or len(sets) < len(found):
            file.fail("a number or a name of a label stands twice; give each label its own")
        for line in file.lines():
            state, colon, numbers = line.partition(":")
            words = [state.strip(), *numbers.split()]
            if not colon or not all(word.isascii() and word.isdigit() for word in words):
                file.fail(
                    f"expected a state and the numbers of its labels, such as '3: 0 2'; got {line!r:.80}"
                )
            x, *given = map(int, words)
            if x >= n:
                file.fail(f"state {x} is none of 0 to {n - 1}; correct the number")
            for k in given:
                if k not in names:
                    file.fail(f"label {k} has no name in the first line; name it there, or leave it out")
                sets[names[k]][x] = True
    if DEADLOCK in sets and not sets[DEADLOCK].any():
        del sets[DEADLOCK]
    return sets


def read_rewards(path: Path, n: int) -> tuple[str, FloatArray]:
    """Name and state rewards of NAME.srew."""
    with readable(path) as file:
        words = file.line("the numbers of states and of rewards, such as '4 2'").split()
        states, count = _head(file, words, "rewards")
        if states != n:
            file.fail(
                f"the rewards are of {states} states, but the chain has {n}; give the file of this chain"
            )
        rewards, seen = np.zeros(n), np.zeros(n, dtype=bool)
        for (x, reward), lines in file.table(count, "rewards", (int, float), "3 2.5"):
            _require_states(file, x, lines, n)
            _require_once(file, seen, x, lines, "the reward of state")
            rewards[x] = reward
        told = [match[1] for match in map(_REWARD.match, file.comments) if match]
    return (told[0] if told else path.name.removesuffix(".gz").rpartition(".")[0]), rewards


def _head(file: TextFile, words: list[str], what: str) -> tuple[int, int]:
    """Numbers of states and of rows."""
    if len(words) != 2 or not all(word.isascii() and word.isdigit() for word in words):
        file.fail(f"expected the numbers of states and of {what}, such as '4 6'; got {' '.join(words)!r:.80}")
    n, count = map(int, words)
    file.require_states(n)
    return n, count


def _require_states(file: TextFile, states: NDArray[np.int64], lines: Any, n: int) -> None:
    told = f"is none of 0 to {n - 1}; correct it, or the number of states in line 1"
    file.refuse((states < 0) | (states >= n), lines, lambda k: f"state {states[k]} {told}")


def _require_once(
    file: TextFile, seen: NDArray[np.bool_], states: NDArray[np.int64], lines: Any, what: str
) -> None:
    """Mark states as seen; refuse one that was seen before."""
    _, first = np.unique(states, return_index=True)
    again = seen[states]
    again[np.setdiff1d(np.arange(len(states)), first)] = True
    file.refuse(again, lines, lambda k: f"{what} {states[k]} is given twice; keep one of the lines")
    seen[states] = True


def _without_action(line: str) -> str:
    """A transition without the action that may stand behind its rate."""
    words = line.split()
    return line if len(words) != 4 else " ".join(words[:3])


def _plain_state(line: str) -> str:
    """The numbers of "3:(2,true)"."""
    return line.translate(_PLAIN).replace("true", "1").replace("false", "0")


def _short(value: float) -> str:
    """A number as PRISM reads it: whole numbers without a point."""
    return str(int(value)) if value.is_integer() else repr(value)

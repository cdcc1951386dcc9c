"""cvc5 in a process of its own: its search for coverings does not look at the clock, so it must be ended.

The process answers one query after the other; a watchdog inside ends it when the time of a query is over,
also if nobody listens any more. The next query starts another.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
from threading import Lock

__all__ = ["ask_cvc5"]

_PROGRAM = """
import faulthandler, json, os, sys
import cvc5
nowhere = open(os.devnull, "w")
for line in sys.stdin:
    query, seconds = json.loads(line)
    faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query, "query")
    symbols, answer = parser.getSymbolManager(), "unknown"
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols).strip() or answer
    faulthandler.cancel_dump_traceback_later()
    print(answer, flush=True)
"""

_lock = Lock()
_running: list[tuple[int, subprocess.Popen[str]]] = []
"""Who started the process, and the process."""


def ask_cvc5(query: str, seconds: float) -> str:
    """Answer of cvc5, which is installed, within some seconds: "sat", "unsat" or "unknown"."""
    with _lock:
        process = _process()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps([query, max(0.001, seconds)]) + "\n")
            process.stdin.flush()
        answer = process.stdout.readline().strip()
        if answer not in ("sat", "unsat", "unknown"):
            _end()
        return answer if answer in ("sat", "unsat") else "unknown"


def _process() -> subprocess.Popen[str]:
    if _running and _running[0][0] != os.getpid():
        _running.clear()  # of the process that this one was forked from
    if not _running:
        program = f"import sys; sys.path[:] = {sys.path!r}\n{_PROGRAM}"
        started = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        _running.append((os.getpid(), started))
    return _running[0][1]


@atexit.register
def _end() -> None:
    """End the process and let go of its pipes."""
    while _running:
        owner, process = _running.pop()
        if owner == os.getpid():
            process.kill()
            process.communicate(timeout=60)

"""Digests of what a question holds: an edit makes another one, another process or a second look does not."""

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from fairness.machine.digests import digest_of

EDITS = {
    "a constant": ("def policy(p, c): return c / 2", "2", "3"),
    "a default": ("def policy(p, c, k=2): return c / k", "2", "3"),
    "a helper": ("def h(x): return x / 2\ndef policy(p, c): return h(c)", "2", "3"),
    "a helper in a comprehension": (
        "def h(x): return x / 2\ndef policy(p, c): return [h(x) for x in c]",
        *("2", "3"),
    ),
    "a helper in an inner lambda": (
        "def h(x): return x / 2\ndef policy(p, c): return list(map(lambda x: h(x), c))",
        *("2", "3"),
    ),
    "a constant in a generator": ("K = 2\ndef policy(p, c): return sum(x / K for x in c)", "2", "3"),
    "a list": ("K = [2]\ndef policy(p, c): return c / K[0]", "2", "3"),
    "a dictionary of functions": (
        "def h(c): return c / 2\nALL = {'a': h}\ndef policy(p, c): return ALL['a'](c)",
        *("2", "3"),
    ),
    "an array": (
        "import numpy as np\nK = np.array([1.0, 2.0])\ndef policy(p, c): return c * K",
        "2.0",
        "3.0",
    ),
    "a set": ("K = {'a', 'b'}\ndef policy(p, c): return len(K)", "'b'", "'c'"),
    "a cached helper": (
        "import functools\n@functools.lru_cache\ndef h(x): return x / 2\ndef policy(p, c): return h(c)",
        *("2", "3"),
    ),
    "a compiled helper": (
        "import numba\n@numba.njit\ndef h(x): return x / 2\ndef policy(p, c): return h(c)",
        *("2", "3"),
    ),
    "what a decorator wraps": (
        "import functools\ndef deco(f):\n  @functools.wraps(f)\n  def inner(*a): return f(*a)\n"
        "  return inner\n@deco\ndef policy(p, c): return c / 2",
        *("/ 2", "/ 3"),
    ),
    "what our decorator wraps": (
        "from fairness import one_state\n@one_state\ndef policy(p, c): return c / 2",
        *("/ 2", "/ 3"),
    ),
    "what a wrapper holds": (
        "import functools\nclass W:\n  def __init__(self, f, k):\n    functools.update_wrapper(self, f)\n"
        "    self.k = k\n  def __call__(self, *a): return self.k\npolicy = W(lambda c: c, 2)",
        *("2", "3"),
    ),
    "a partial": (
        "from functools import partial\ndef h(k, p, c): return c / k\npolicy = partial(h, 2)",
        *("2", "3"),
    ),
    "a bound method": ("class A:\n  def f(self, p, c): return c / 2\npolicy = A().f", "2", "3"),
    "what a bound method holds": (
        "class A:\n  def __init__(self, k): self.k = k\n  def f(self, p, c): return c / self.k\n"
        "policy = A(2).f",
        *("A(2)", "A(3)"),
    ),
    "a class method": (
        "class A:\n  @classmethod\n  def f(cls, p, c): return c / 2\npolicy = A.f",
        *("2", "3"),
    ),
    "an inherited call": (
        "class B:\n  def __call__(self, p, c): return c / 2\nclass A(B): pass\npolicy = A()",
        *("2", "3"),
    ),
    "a method that is called": (
        "class A:\n  def g(self, c): return c / 2\n  def __call__(self, p, c): return self.g(c)\n"
        "policy = A()",
        *("2", "3"),
    ),
    "a property": (
        "class A:\n  @property\n  def k(self): return 2\n  def __call__(self, p, c): return c / self.k\n"
        "policy = A()",
        *("2", "3"),
    ),
    "a field": (
        "class A:\n  def __init__(self, k): self.k = k\n  def __call__(self, p, c): return c / self.k\n"
        "policy = A(2)",
        *("A(2)", "A(3)"),
    ),
    "a slot": (
        "class A:\n  __slots__ = ('k',)\n  def __init__(self, k): self.k = k\n"
        "  def __call__(self, p, c): return c / self.k\npolicy = A(2)",
        *("A(2)", "A(3)"),
    ),
    "a function in a dataclass": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n  f: object\n"
        "  def __call__(self, p, c): return self.f(c)\npolicy = A(lambda c: c / 2)",
        *("/ 2", "/ 3"),
    ),
    "a function in a named tuple": (
        "from collections import namedtuple\nA = namedtuple('A', 'f')\na = A(lambda c: c / 2)\n"
        "def policy(p, c): return a.f(c)",
        *("/ 2", "/ 3"),
    ),
    "an object": (
        "class W:\n  def __init__(self, k): self.k = k\nw = W(2)\ndef policy(p, c): return c / w.k",
        *("W(2)", "W(3)"),
    ),
    "a class": ("class W:\n  def f(c): return c / 2\ndef policy(p, c): return W.f(c)", "2", "3"),
    "a policy of ours made with other numbers": (
        "from fairness import AlphaFair\np1 = AlphaFair(2)\ndef policy(p, c): return p1(p, c)",
        *("2", "3"),
    ),
}


def made(source, name="mine"):
    module = ModuleType(name)
    exec(source, module.__dict__)
    return module


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_makes_another_digest(what, monkeypatch):
    source, old, new = EDITS[what]
    assert old in source

    def digest(text):
        module = made(text)
        monkeypatch.setitem(sys.modules, "mine", module)
        return digest_of(module.policy)

    assert digest(source) == digest(source)
    assert digest(source.replace(old, new)) != digest(source)


@pytest.mark.parametrize("line", ["from helpers import h", "import helpers"])
def test_other_modules_of_the_caller_are_followed(line, monkeypatch):
    call = "h(c)" if line.startswith("from") else "helpers.h(c)"

    def digest(k):
        monkeypatch.setitem(sys.modules, "helpers", made(f"def h(c): return c / {k}", "helpers"))
        return digest_of(made(f"{line}\ndef policy(p, c): return {call}").policy)

    assert digest(2) == digest(2) != digest(3)


def test_what_code_changes_itself_is_no_part_of_it():
    module = made(
        "calls, seen, table = 0, [], {}\n"
        "def policy(p, c):\n"
        "  global calls\n"
        "  calls += 1\n"
        "  seen.append(c)\n"
        "  table[c] = table.get(c, 0) + 1\n"
        "  return c\n"
        "class Counting:\n"
        "  def __init__(self, k): self.k, self.calls, self.table = k, 0, {}\n"
        "  def __call__(self, p, c):\n"
        "    self.calls += 1\n"
        "    self.table[c] = c\n"
        "    return c / self.k\n"
    )
    for policy in (module.policy, module.Counting(2)):
        before = digest_of(policy)
        policy(None, 3)
        assert digest_of(policy) == before
    assert digest_of(module.Counting(2)) != digest_of(module.Counting(3))


def test_what_is_not_there_yet_or_holds_itself_has_a_digest():
    def outer():
        def model(level):
            return later(level)

        found = digest_of(model)
        later = abs
        return found, digest_of(model)

    before, after = outer()
    assert before != after
    itself: list = []
    itself.append((itself,))
    node = made("class Node: pass\nnode = Node()\nnode.me = node").node
    for held in (itself, node, np.array([{1}, None], dtype=object), (float("nan"), 1j, b"x")):
        assert digest_of(lambda held=held: held) == digest_of(lambda held=held: held)


def test_other_processes_find_the_same():
    """Sets of texts, and constants that are some, have another order in each; objects another address."""
    program = (
        "import numpy as np\n"
        "from fairness.machine.digests import digest_of\n"
        "from fairness.display.storage import identity\n"
        "GPU, RNG = frozenset({'a100', 'h100', 'v100'}), np.random.default_rng(0)\n"
        "def model(x): return x in GPU or x in {'t4', 'l4', 'p4'} or RNG.random()\n"
        "print(digest_of(model), digest_of([GPU, RNG]), identity({'x': GPU}))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(told) == 1

"""What docs/promise.md says: the names of each release are found, and take the arguments that they took.

``golden/names-0.1.txt`` and ``names-0.2.txt`` are what the packages exported then, the latter with the names
of the arguments. Lines are never taken out before the release after next.
"""

import warnings
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path

import pytest

import fairness
import queueing

GOLDEN = Path(__file__).parent / "golden"
RELEASES = ("0.1", "0.2")


def lines(release):
    return (GOLDEN / f"names-{release}.txt").read_text(encoding="utf-8").splitlines()


def found(place):
    """What a public name leads to; an old one may say where it is now."""
    package, _, name = place.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return getattr(import_module(package), name)


def lost(place, *arguments):
    """Those of the arguments that can no longer be given by name."""
    thing = found(place)
    taken = signature(thing).parameters if arguments else {}
    if any(one.kind is Parameter.VAR_KEYWORD for one in taken.values()):
        return []
    return [name for name in arguments if name not in taken]


@pytest.mark.parametrize("release", RELEASES)
def test_names_of_a_release_take_what_they_took(release):
    told = [line.split() for line in lines(release)]
    assert len(told) > 300
    gone = {place: missing for place, *arguments in told if (missing := lost(place, *arguments))}
    assert not gone


def test_what_is_gone_is_seen():
    with pytest.raises(AttributeError, match="has no attribute 'allot'"):
        found("fairness.allot")
    assert lost("fairness.allocate", "problem", "rule") == ["rule"]


def test_an_old_name_says_where_it_is_now():
    moved = {line for line in lines("0.1") if line.startswith("queueing.")} - {
        line.split()[0] for line in lines("0.2")
    }
    assert "queueing.Stationary" in moved
    with pytest.warns(DeprecationWarning, match=r"queueing\.Stationary is queueing\.results\.Stationary now"):
        queueing.Stationary  # noqa: B018
    assert queueing.results.Stationary is found("queueing.Stationary")


def test_every_public_name_of_now_is_promised():
    """A new name is written down with its arguments, so that the next release keeps it."""
    known = {line.split()[0] for line in lines("0.2")}
    for package in ("fairness", "queueing", "capacity", "proofs", "fairqueues"):
        exported = {f"{package}.{name}" for name in import_module(package).__all__}
        assert exported <= known, "add a line to golden/names-0.2.txt: " + ", ".join(sorted(exported - known))
    assert fairness.__all__

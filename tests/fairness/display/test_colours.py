"""Colours in figures: as far apart as they claim, for readers who see all colours and for those who do not.

Differences are CIEDE2000 (Sharma, Wu and Dalal 2005), checked against pairs of their table 1; the colours
that readers see who lack a kind of cones are those of Machado, Oliveira and Fernandes (2009), severity 1.
"""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from fairness.catalogue import _MODELS, _SPARE, CATALOGUE, CLUSTER_CATALOGUE, colour, coloured
from fairness.display.colours import NEUTRAL, PARTS, part_colour, part_line

SEEN = {
    "all": np.eye(3),
    "no long waves": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no middle waves": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no short waves": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)

POLICIES = {
    "pools": {entry.name: entry.colour for entry in CATALOGUE} | _MODELS,
    "clusters": {entry.name: entry.colour for entry in CLUSTER_CATALOGUE} | {"H-DRF": _MODELS["H-DRF"]},
}


def linear(hue):
    """Light of a colour, red, green and blue (the transfer function of sRGB)."""
    values = np.array([int(hue[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light):
    """CIELAB, white being that of sRGB."""
    part = XYZ @ np.clip(light, 0, 1) / XYZ.sum(axis=1)
    f = np.where(part > 216 / 24389, np.cbrt(part), (24389 / 27 * part + 16) / 116)
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def difference(one, other):
    """CIEDE2000 of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25.0**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2([b1, b2], [a1, a2])) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    light, strong, at = (l1 + l2) / 2, (c1 + c2) / 2, h1 + turn / 2
    waves = (-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63)
    t = 1 + sum(w * np.cos(np.radians(k * at + o)) for w, k, o in waves)
    turned = 60 * np.exp(-(((at % 360 - 275) / 25) ** 2))
    rotation = -2 * np.sin(np.radians(turned)) * np.sqrt(strong**7 / (strong**7 + 25.0**7))
    dl = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    dc, dh = (c2 - c1) / (1 + 0.045 * strong), hue / (1 + 0.015 * strong * t)
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh))


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (61, -5, 29), 22.8977),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ],
)
def test_the_difference_is_that_of_the_published_table(one, other, value):
    assert difference(one, other) == pytest.approx(value, abs=1e-4)
    assert difference(other, one) == pytest.approx(value, abs=1e-4)


def nearest(hues, kind):
    """The least difference of two colours, and which they are."""
    seen = {name: lab(np.asarray(SEEN[kind]) @ linear(hue)) for name, hue in hues.items()}
    return min((difference(seen[a], seen[b]), a, b) for a, b in combinations(seen, 2))


@pytest.mark.parametrize("kind", SEEN)
def test_policies_and_parts_are_told_apart(kind):
    for policies in POLICIES.values():
        assert nearest(policies, kind)[0] >= 10
    assert nearest(dict(enumerate(PARTS)), kind)[0] >= 16


@pytest.mark.parametrize("kind", SEEN)
def test_policies_of_ones_own_are_told_apart_too(kind):
    own = coloured([*POLICIES["pools"], *(f"own {k}" for k in range(len(_SPARE)))])
    assert nearest(own, kind)[0] >= 10


def test_the_simulation_finds_what_is_confused():
    """Red and green of matplotlib, which readers without middle or long waves mix up."""
    usual = {"orange": "#FF7F0E", "green": "#2CA02C"}
    assert nearest(usual, "all")[0] > 40
    assert nearest(usual, "no long waves")[0] < 5


def test_parts_share_no_colour_with_policies():
    for part in (*PARTS, NEUTRAL):
        for policy in [hue for policies in POLICIES.values() for hue in policies.values()] + [colour("own")]:
            assert difference(lab(linear(part)), lab(linear(policy))) >= 11, (part, policy)
        for spare in _SPARE:
            assert difference(lab(linear(part)), lab(linear(spare))) >= 8, (part, spare)
        # Contrast to white, of WCAG 2.1.
        assert 1.05 / (XYZ[1] @ linear(part) + 0.05) >= 2.5


def test_no_figure_takes_the_colours_of_matplotlib():
    """Blue, orange and green of its cycle are nearly those of PF, DRF and BMF."""
    root = Path(__file__).parents[3]
    folders = ("fairness", "queueing", "capacity", "proofs", "fairqueues", "examples")
    files = [path for folder in folders for path in (root / folder).rglob("*.py")]
    assert len(files) > 500
    named = re.compile(r"""["']C([0-9]|\{[^}]*\})["']|["']tab:""")
    assert not [path.name for path in files if named.search(path.read_text(encoding="utf-8"))]


def test_lines_are_told_apart_where_colours_repeat():
    n = len(PARTS)
    assert part_colour(0) == part_colour(n)
    assert len({tuple(part_line(k).items()) for k in range(4 * n)}) == 4 * n

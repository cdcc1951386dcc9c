"""``fairqueues solve --certified``: bounds with the digits that are known, the certificate, wrong uses."""

import json

import pytest

from fairness import DRF
from fairness.display.result import Result
from fairqueues.scenario import Scenario
from queueing import check_certificate, stationary
from tests.fairqueues.commands.command_line import run


def test_bounds_hold_and_are_shown_as_wide_as_they_are(place):
    data = json.loads(
        run("solve", "two.toml", "--certified", "--width", "1e-6", "-p", "drf", "--json").stdout
    )
    law = stationary(Scenario.read("two.toml").system, DRF(), tail=1e-12)
    rows = data["results"]
    assert len(rows) == len(law.mean_jobs) == 2
    shown = run("solve", "two.toml", "--certified", "--width", "1e-6", "-p", "drf").stdout
    for row, jobs in zip(rows, law.mean_jobs, strict=True):
        low, high = row["mean_jobs_lower"], row["mean_jobs_upper"]
        assert low < jobs < high
        assert high - low < 1e-6 * high
        line = next(line for line in shown.splitlines() if f" {row['job_class']} " in line).split()
        low_shown, high_shown = map(float, line[3:5])
        assert low_shown <= low
        assert high <= high_shown
        assert high_shown - low_shown < 30 * (high - low)


def test_the_certificate_is_a_file(place):
    run("solve", "two.toml", "--certified", "--width", "1e-4", "-p", "pf", "--certificate", "proof.json.gz")
    certificate = Result.load(place / "proof.json.gz")
    lower, _ = check_certificate(certificate)
    assert (lower == certificate.lower).all()


def test_the_largest_box_is_that_of_the_scenario(place):
    text = (place / "two.toml").read_text()
    assert "[chain]" not in text
    (place / "small.toml").write_text(text + "\n[chain]\nmax_states = 60\n")
    assert "max_states=60" in run("solve", "small.toml", "--certified", "-p", "drf", code=1).stderr


@pytest.mark.long
def test_estimates_are_kept_where_no_bounds_are_found(place):
    text = (place / "two.toml").read_text()
    (place / "small.toml").write_text(text + "\n[chain]\nmax_states = 100\n")
    result = run("solve", "small.toml", "--certified", "-p", "drf", "-o", "kept.json", "-o", "a.svg", code=1)
    assert result.stdout.startswith("Stationary means, estimates without bounds: ")
    assert "exceeds max_states=100" in result.stderr
    kept = json.loads((place / "kept.json").read_text())
    alone = json.loads(run("solve", "small.toml", "-p", "drf", "--json", code=1).stdout)
    assert kept["results"] == [row for row in alone["results"] if row["method"] == "DRF"]
    assert len(kept["failures"]) == 1


@pytest.mark.long
def test_the_settings_of_the_estimate_count(place):
    """The tail decides on its box; a box that is given has other means than those that are proved."""

    def estimate(*options):
        lines = run("solve", "two.toml", "--certified", "--width", "1e-2", "-p", "drf", *options).stdout
        return next(line for line in lines.splitlines() if "estimate by" in line)

    assert estimate("--tail", "1e-3") != estimate("--tail", "1e-7")
    text = (place / "two.toml").read_text()
    (place / "box.toml").write_text(text + "\n[chain]\ncertified = true\nshape = 9\n")
    assert "leave shape out" in run("solve", "box.toml", "-p", "drf", code=2).stderr
    (place / "one.toml").write_text(text + '\n[chain]\ncertified = true\nsolver = "product"\n')
    assert "Product() is for one class" in run("solve", "one.toml", "-p", "drf", code=2).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--certified", "--certificate", "c.json"), "--policy"),
        (("--width", "1e-3"), "--certified"),
        (("--certified", "--shape", "9,9"), "infinite chain"),
        (("--certified", "--load", "1"), "load"),
    ],
)
def test_wrong_use_is_said(place, options, said):
    assert said in run("solve", "two.toml", *options, code=2).stderr

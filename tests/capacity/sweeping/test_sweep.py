"""Sweeps: the same numbers whoever computes them, and nothing lost when somebody dies.

Equal means equal bits throughout: a point has one random stream, so no tolerance has a reason here.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
import xarray as xr
from joblib._parallel_backends import ThreadingBackend

from capacity.sweeping.sweep import SweepInterrupted, sweep
from fairness import (
    DRF,
    AlphaFair,
    Cluster,
    Hierarchical,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
    Tree,
    UnstableError,
    one_state,
)
from fairness.machine.backends import Failure
from fairness.machine.checkpoint import Checkpoint
from queueing import System, balanced_fairness, duration_bound, stationary
from tests.processes import PATIENCE, WAITS, backend_of, points_kept, require_nobody_left, stop_at, wait_for

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["left", "right"], resources=["cpu", "ram"])
OVER = {"load": [0.2, 0.4, 0.6, 0.8], "mix": ["even", "odd"]}
POLICIES = {"first": 1.0, "second": 2.0}


def system(load, mix="even"):
    return System.with_load(POOL, [1, 1] if mix == "even" else [3, 1], load)


MEANWHILE = []
"""What is called when a point is computed."""


def draw(instance, policy, rng):
    """Numbers that only the stream, the parameters and the policy decide."""
    for call in globals().get("MEANWHILE", ()):  # by its text: with another list it were another function
        call()
    return {
        "scalar": policy * rng.random(),
        "per_class": ("job_class", instance.loads * rng.random(2)),
        "matrix": (("job_class", "resource"), rng.random((2, 2))),
        "curve": xr.DataArray(rng.random(3), dims=["time"], coords={"time": [0.0, 0.5, 2.0]}),
    }


def run(checkpoint=None, **options):
    options = {"rng": 5, "outputs": draw, "model": system, "over": OVER, **options}
    return sweep(policies=options.pop("policies", POLICIES), checkpoint=checkpoint, **options)


@pytest.fixture(scope="module")
def whole():
    """The sweep, uninterrupted and in one process."""
    return run()


def same(result, expected):
    """Equal values, names, labels, attributes and types."""
    xr.testing.assert_identical(result, expected)
    for name in (*expected.variables,):
        assert result[name].dtype == expected[name].dtype, name
        if result[name].dtype != object:
            assert result[name].values.tobytes() == expected[name].values.tobytes(), name
    return True


# --- what comes out ------------------------------------------------------------------------------------


def test_standard_outputs_are_those_of_the_stationary_law():
    policies = [DRF(), ProportionalFair()]
    names = ["mean_jobs", "mean_durations", "service_rates", "tail_mass", "residual"]
    result = sweep(system, policies, {"load": [0.3, 0.6], "mix": ["odd", "even"]}, names)
    assert result.mean_jobs.dims == ("load", "mix", "policy", "job_class")
    assert result.tail_mass.dims == ("load", "mix", "policy")
    assert list(result.policy.values) == ["DRF", "PF"]
    assert list(result.job_class.values) == ["left", "right"]
    assert (result.error == "").all()
    for load in (0.3, 0.6):
        for mix in ("odd", "even"):
            for policy in policies:
                law = stationary(system(load, mix), policy)
                at = result.sel(load=load, mix=mix, policy=policy.name)
                for name in names:
                    np.testing.assert_array_equal(at[name], getattr(law, name))


def test_balanced_fairness_and_its_bound_stand_beside_policies(tmp_path):
    names = ["mean_jobs", "mean_durations", "service_rates", "tail_mass", "residual"]
    methods = ["bound", DRF(), "balanced"]
    ask = partial(sweep, system, methods, {"load": [0.3, 0.6, 1.1]}, names, checkpoint=tmp_path / "kept")
    whole = ask()
    assert list(whole.policy.values) == ["bound", "DRF", "balanced fairness"]
    same(ask(), whole)
    for load in (0.3, 0.6):
        bound, balanced = (f(system(load)) for f in (duration_bound, balanced_fairness))
        for label, law in (("bound", bound), ("balanced fairness", balanced)):
            at = whole.sel(load=load, policy=label)
            for name in names[:3]:
                np.testing.assert_array_equal(at[name], getattr(law, name))
            assert np.isnan(at.residual)
        assert np.isnan(whole.tail_mass.sel(load=load, policy="bound"))
        assert whole.tail_mass.sel(load=load, policy="balanced fairness") == balanced.tail_mass
    assert (whole.error.sel(load=1.1).str.startswith("UnstableError")).all()
    named = sweep(system, {"BF": "balanced"}, {"load": [0.3]}, "mean_jobs")
    known = whole.mean_jobs.sel(load=[0.3], policy="balanced fairness")
    assert (named.mean_jobs.sel(policy="BF") == known).all()


@pytest.mark.parametrize("method", ["balanced", "bound"])
def test_balanced_fairness_of_a_cluster_is_refused_at_once(method):
    cluster = Cluster([[1, 1], [1, 2]], [[4, 4], [9, 9]])
    with pytest.raises(ModelError, match=f"'{method}' is known for one pool, .* a cluster; leave it out"):
        sweep(lambda load: System.with_load(cluster, [1, 1], load), [method], {"load": [0.3]})


def test_dimensions_and_labels_come_from_the_instance_and_the_outputs(whole):
    assert whole.sizes == {"load": 4, "mix": 2, "policy": 2, "job_class": 2, "resource": 2, "time": 3}
    assert whole.matrix.dims == ("load", "mix", "policy", "job_class", "resource")
    assert list(whole.resource.values) == ["cpu", "ram"]
    assert list(whole.time.values) == [0.0, 0.5, 2.0]
    cluster = Cluster([[1, 1], [1, 2]], [[4, 4], [9, 9]], servers=["a", "b"])
    result = sweep(
        lambda: cluster, {"none": None}, {}, lambda c, p: {"gamma": (("job_class", "server"), c.gamma)}
    )
    assert list(result.server.values) == ["a", "b"]
    np.testing.assert_array_equal(result.gamma.sel(policy="none"), cluster.gamma)


def test_kinds_of_values_are_kept_and_become_floats_only_beside_an_error():
    def outputs(instance, policy):
        if instance == 2 and policy:
            raise UnstableError("too much")
        values = {"whole": 2**53 + 1, "flag": instance > 0, "text": f"n={instance}"}
        return values | {"real": np.float32(0.1), "u": np.uint8(3)}

    good = sweep(lambda n: n, {"p": False}, {"n": [0, 2]}, outputs)
    kinds = {"whole": "i", "flag": "b", "text": "U", "real": "f", "u": "u"}
    assert {name: good[name].dtype.kind for name in kinds} == kinds
    assert good.whole.values.ravel().tolist() == [2**53 + 1] * 2
    assert good.flag.values.ravel().tolist() == [False, True]
    bad = sweep(lambda n: n, {"p": True}, {"n": [0, 2]}, outputs)
    assert bad.text.values.ravel().tolist() == ["n=0", ""]
    assert bad.error.values.ravel().tolist() == ["", "UnstableError: too much"]
    for name in ("whole", "flag", "real", "u"):
        assert bad[name].dtype == float
        assert np.isnan(bad[name].values.ravel()).tolist() == [False, True]


def test_special_floats_survive_the_record(tmp_path):
    values = np.array([-0.0, np.inf, -np.inf, np.nan, 5e-324, -np.nan])
    for _ in range(2):
        result = sweep(
            lambda: 0, {"p": 0}, {}, lambda i, p: {"x": ("k", values)}, checkpoint=tmp_path / "c", rng=0
        )
        assert result.x.values.tobytes() == values.tobytes()


def test_values_that_are_no_coordinates_come_by_label():
    pools = {"small": Problem([[1]], [1]), "large": Problem([[1]], [4])}
    over = {"pool": pools, "part": {"third": Fraction(1, 3)}}
    outputs = lambda i, p: {"c": i[0].capacities[0], "exact": i[1] == Fraction(1, 3)}  # noqa: E731
    result = sweep(lambda pool, part: (pool, part), {"p": 0}, over, outputs)
    assert result.c.sel(pool="large", part="third", policy="p") == 4
    assert result.exact.all()


# --- streams -------------------------------------------------------------------------------------------


def test_a_point_draws_from_the_child_of_its_number(whole):
    root = np.random.default_rng(5).bit_generator.seed_seq.spawn(1)[0]
    children = root.spawn(16)
    for k, child in enumerate(children):
        rng = np.random.default_rng(child)
        at = whole.isel(load=k // 4, mix=k // 2 % 2, policy=k % 2)
        assert at.scalar == (1 + k % 2) * rng.random()


def test_policies_share_streams_when_asked(whole):
    shared = run(common_streams=True)
    assert (shared.scalar.sel(policy="second") == 2 * shared.scalar.sel(policy="first")).all()
    assert not (whole.scalar.sel(policy="second") == 2 * whole.scalar.sel(policy="first")).any()
    assert len(np.unique(shared.scalar.sel(policy="first"))) == 8


def test_the_entropy_repeats_a_run_without_seed():
    first = run(rng=None)
    same(run(rng=int(first.attrs["entropy"])), first)
    assert not first.equals(run(rng=None))


class WithoutGenerators(ThreadingBackend):
    """Like ray: results come only all together."""

    supports_return_generator = False


joblib.register_parallel_backend("rounds", WithoutGenerators)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.long), "rounds"])
def test_the_backend_does_not_matter(backend, whole):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        same(run(), whole)


def test_a_generator_moves_on():
    rng = np.random.default_rng(3)
    first, second = run(rng=rng), run(rng=rng)
    assert not (first.scalar == second.scalar).any()
    again = np.random.default_rng(3)
    same(run(rng=again), first)


# --- errors of points ----------------------------------------------------------------------------------


def test_errors_of_the_house_are_recorded_or_raised():
    result = sweep(system, [DRF()], {"load": [0.5, 1.0, 1.5]})
    assert np.isnan(result.mean_jobs.sel(load=[1.0, 1.5])).all()
    assert np.isfinite(result.mean_jobs.sel(load=0.5)).all()
    messages = result.error.values.ravel()
    assert messages[0] == ""
    assert all(message.startswith("UnstableError: no stationary law") for message in messages[1:])
    with pytest.raises(UnstableError, match="no stationary law") as caught:
        sweep(system, [DRF()], {"load": [0.5, 1.0, 1.5]}, errors="raise")
    assert caught.value.__notes__ == ["sweep: at the point load=1.0, policy='DRF'"]
    nothing = sweep(system, [DRF()], {"load": [1.5]})
    assert list(nothing.data_vars) == ["error"]


def fail(instance, policy):
    if policy == 2.0:
        raise Odd("one and two")
    return {"x": 1.0}


class Odd(Exception):
    """Cannot be pickled."""

    def __init__(self, message):
        super().__init__(message)
        self.lock = threading.Lock()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_other_exceptions_propagate_and_name_the_point(n_jobs):
    with joblib.parallel_config(backend="threading"), pytest.raises(Odd, match="one and two") as caught:
        run(outputs=fail, n_jobs=n_jobs)
    assert "policy='second'" in caught.value.__notes__[0]


def test_exceptions_come_back_from_another_process():
    def thrown(error):
        """What the user sees after the way through pickle, and what was printed in the worker."""
        try:
            raise error
        except type(error):
            failure = pickle.loads(pickle.dumps(Failure(error)))
        with pytest.raises((NotConvergedError, RuntimeError)) as caught:
            failure.throw()
        return caught.value, "".join(caught.value.__notes__)

    error, told = thrown(NotConvergedError("no end", best=[1, 2], residual=0.5))
    assert isinstance(error, NotConvergedError)
    assert (str(error), error.best, error.residual) == ("no end", [1, 2], 0.5)
    assert "raise error" in told
    error, told = thrown(Odd("one and two"))
    assert isinstance(error, RuntimeError)
    assert str(error) == "Odd: one and two"
    assert "raise error" in told


# --- wrong outputs and arguments -----------------------------------------------------------------------


def labelled(*labels):
    """A value for each label of a dimension."""
    return xr.DataArray(np.ones(len(labels)), dims="k", coords={"k": list(labels)})


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (3.0, "must return a mapping of names to values; got float"),
        ({1: 3.0}, "names must be strings; got 1"),
        ({"x": [1.0, 2.0]}, r"'x' has shape \(2,\), but dimensions \(\)"),
        ({"x": ("job_class", [1.0, 2.0, 3.0])}, "'x' has 3 entries along 'job_class'.*2: left, right"),
        ({"x": ("k", [[1.0]])}, r"'x' has shape \(1, 1\), but dimensions \('k',\)"),
        ({"x": (("k", "k"), [[1.0]])}, "give each another name"),
        ({"x": ("k", [1.0]), "y": ("k", [1.0, 2.0])}, "'y' has 2 entries along 'k', another output 1"),
        ({"x": None}, "must be a number, a boolean, a string or an array"),
        ({"x": 1j}, "dtype complex128"),
        ({"x": ("k", [[1], [1, 2]])}, "an array of them; got list"),
        ({"error": 1.0}, "'error' is already a name of the result"),
        ({"load": 1.0}, "'load' is already a name of the result"),
        ({"x": ("policy", [1.0])}, "'policy' is already a name of the result"),
        ({"k": ("k", [1.0])}, "'k' is both an output and a dimension"),
        ({"x": labelled(1), "y": labelled(2)}, "'y' labels 'k' otherwise"),
        (lambda s, p: {"x": labelled(*range(1 + (s.loads[0] > 0.4)))}, r"'x' has shape \(2,\) at .*0.6.*0.2"),
        (lambda s, p: {"x": 1.0 if p == 1 else "one"}, "'x' has strings True at"),
        (lambda s, p: {"x" if p == 1 else "y": 1.0}, "x, y differ between the points"),
        (lambda s, p: {"x": labelled(p)}, r"'k' is labelled \[2.\] at"),
    ],
)
def test_outputs_that_make_no_dataset(outputs, message):
    with pytest.raises(ModelError, match=message):
        run(outputs=outputs if callable(outputs) else lambda s, p: outputs)


def test_standard_outputs_need_a_system():
    with pytest.raises(ModelError, match=r"of a queueing\.System, but the model built Problem"):
        sweep(lambda load: POOL, [DRF()], {"load": [1]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": [1, 2]}, "over must map names"),
        ({"over": {"load": []}}, r"over\['load'\] is empty"),
        ({"over": {"load": 0.5}}, r"over\['load'\] must be a sequence"),
        ({"over": {"load": "abc"}}, r"over\['load'\] must be a sequence"),
        ({"over": {"load": [0.5, 0.6, 0.5]}}, r"over\['load'\] has 0.5 more than once"),
        ({"over": {"load": np.array([1, 1])}}, "1 more than once"),
        ({"over": {"load": [1, 1.0]}}, "1.0 more than once"),
        ({"over": {"load": [0.5, "a"]}}, "mixes numbers and strings"),
        ({"over": {"load": [0.5, np.nan]}}, "NaN"),
        ({"over": {"load": [Fraction(1, 2)]}}, "mapping label -> value"),
        ({"over": {"load": [(1, 2)]}}, "mapping label -> value"),
        ({"over": {"load": [2**70]}}, "64 bits"),
        ({"over": {"load": [2**53, 2**53 + 1, 0.5]}}, "more than once"),
        ({"over": {"load": {0.5, 0.6}}}, r"over\['load'\] must be a sequence"),
        ({"policies": {DRF()}}, "policies must be a list"),
        ({"over": {"two words": [1]}}, "names; got 'two words'"),
        ({"over": {"policy": [1]}}, "'policy' is a name of the result"),
        ({"over": {"speed": [1]}}, r"keywords \(speed\).*"),
        ({"policies": []}, "policies is empty"),
        ({"policies": DRF()}, "policies must be a list"),
        ({"policies": [DRF]}, "policy must be callable"),
        ({"policies": ["balance"]}, "policies: 'balance' is none; give policies such as .* 'balanced'"),
        ({"policies": ["bound", "bound"]}, "two policies are called 'bound'"),
        ({"policies": {1: DRF()}}, "labels must be strings; got 1"),
        ({"policies": [DRF(), DRF()]}, "two policies are called 'DRF'"),
        ({"model": POOL}, "model must be a function"),
        ({"outputs": "mean_job"}, "distinct names among mean_jobs"),
        ({"outputs": []}, "distinct names among mean_jobs"),
        ({"outputs": 3}, "outputs must be a function or names"),
        ({"outputs": lambda instance: {}}, "outputs must be callable as"),
        ({"errors": "ignore"}, "errors must be"),
        ({"checkpoint": 3}, "checkpoint must be a path"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ModelError, match=message):
        run(**options)


# --- checkpoints ---------------------------------------------------------------------------------------


def kept(path):
    """Settings and records of a checkpoint."""
    with Checkpoint(path, "sweep", "checkpoint") as file:
        return file.settings, file.pieces


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, whole):
    """Bytes of the checkpoint of the whole sweep."""
    path = tmp_path_factory.mktemp("sweep") / "whole"
    same(run(path), whole)
    assert os.listdir(path.parent) == ["whole"]
    return path.read_bytes()


def without(path, recorded, forgotten):
    """A checkpoint of the whole sweep that lacks some points, as a kill leaves it."""
    path.write_bytes(recorded)
    with closing(sqlite3.connect(path)) as file, file:
        file.executemany("DELETE FROM pieces WHERE key = ?", [(str(k),) for k in forgotten])
    return kept(path)


def test_finished_points_are_not_computed_again(tmp_path, whole, recorded, monkeypatch):
    path = tmp_path / "c"
    path.write_bytes(recorded)
    called = []
    monkeypatch.setitem(globals(), "MEANWHILE", [lambda: called.append(1)])
    same(run(path), whole)
    assert not called
    assert len(kept(path)[1]) == 16


@pytest.mark.parametrize("forgotten", [[0], [3, 4, 15], range(16)])
def test_what_is_missing_is_computed(tmp_path, whole, recorded, forgotten):
    settings, some = without(tmp_path / "c", recorded, forgotten)
    assert len(some) == 16 - len(forgotten)
    same(run(tmp_path / "c"), whole)
    assert kept(tmp_path / "c")[0] == settings
    assert some.items() <= kept(tmp_path / "c")[1].items()


@pytest.mark.long
def test_a_process_that_dies_at_any_write_leaves_a_whole_checkpoint(tmp_path, whole, monkeypatch):
    """What SQLite had not yet taken into its file stands beside it, and may end anywhere."""
    path, copy = tmp_path / "c", tmp_path / "copy"
    files = []

    def keep():
        files.append((path.read_bytes(), Path(f"{path}-wal").read_bytes()))

    monkeypatch.setitem(globals(), "MEANWHILE", [keep])
    same(run(path), whole)
    monkeypatch.undo()
    main, beside = files[-1]
    for end in (0, 1, 31, 32, 5000, len(beside) // 2, len(beside) - 4000, len(beside) - 1, len(beside)):
        copy.write_bytes(main)
        Path(f"{copy}-wal").write_bytes(beside[:end])
        assert len(kept(copy)[1]) <= 15
        same(run(copy), whole)
    assert len(files) == 16


def test_an_edited_record_is_refused(tmp_path, recorded):
    path = tmp_path / "c"
    edits = ("UPDATE pieces SET text = replace(text, 'a', 'b') WHERE key = '2'",
             "UPDATE pieces SET key = '99' WHERE key = '3'",
             "UPDATE settings SET text = replace(text, '0.2', '0.3')")  # fmt: skip
    for edit in edits:
        path.write_bytes(recorded)
        with closing(sqlite3.connect(path)) as file, file:
            file.execute(edit)
        before = path.read_bytes()
        with pytest.raises(ModelError, match="was changed after it was written; delete it"):
            run(path)
        assert path.read_bytes() == before


@pytest.mark.parametrize("at", [60, 700, -700])
def test_a_damaged_file_is_refused_or_gives_the_same_sweep(tmp_path, whole, recorded, at):
    path = tmp_path / "c"
    damaged = bytearray(recorded)
    damaged[at : at + 40] = b"\xff" * 40
    path.write_bytes(damaged)
    told = ""
    try:
        same(run(path), whole)
    except ModelError as error:
        told = str(error)
    assert not told or re.search("is damaged|was changed|is no checkpoint", told)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": {**OVER, "load": [0.2, 0.9]}}, r"'load' was \[0.2, 0.4, 0.6, 0.8\] there and is.*0.9"),
        ({"over": {"mix": OVER["mix"], "load": OVER["load"]}}, "dimensions was"),
        ({"policies": {"first": 1.0, "third": 2.0}}, "'policy' was .*'second'.*'third'"),
        ({"rng": 6}, "rng was"),
        ({"rng": np.random.default_rng(7)}, "rng was"),
        ({"outputs": lambda instance, policy, rng: {}}, "outputs was 'draw' there and is '.*lambda"),
        ({"model": lambda load, mix: 0}, "model was 'system' there"),
        ({"common_streams": True}, "common_streams was False there and is True here"),
    ],
)
def test_the_file_of_another_sweep_is_refused(tmp_path, recorded, options, message):
    path = tmp_path / "c"
    path.write_bytes(recorded)
    with pytest.raises(ModelError, match=f"belongs to another sweep: {message}") as caught:
        run(path, **options)
    assert caught.value.argument == "checkpoint"
    assert path.read_bytes() == recorded


def test_values_behind_labels_belong_to_the_sweep(tmp_path):
    def sweep_with(high, alpha=1.0, where="c"):
        over = {"level": {"low": 0.1, "high": high}}
        outputs = lambda value, policy: {"x": policy.alpha * np.sum(value)}  # noqa: E731
        policies = {"one": AlphaFair(alpha)}
        return sweep(lambda level: level, policies, over, outputs, checkpoint=tmp_path / where, rng=1)

    np.testing.assert_array_equal(sweep_with(0.5).x.squeeze(), [0.1, 0.5])
    same(sweep_with(np.float64(0.5)), sweep_with(0.5))
    with pytest.raises(ModelError, match=r"'level' was \[0.1, 0.5\] there and is \[0.1, 0.9\] here"):
        sweep_with(0.9)
    with pytest.raises(ModelError, match=r"parameters of the policies was .*1.* there and is .*2"):
        sweep_with(0.5, 2.0)
    sweep_with(np.array([1, 2]), where="d")
    with pytest.raises(ModelError, match="values of 'level' was"):
        sweep_with(np.array([1, 3]), where="d")


def test_what_a_repr_rounds_or_leaves_out_belongs_to_the_sweep(tmp_path):
    def kept(file, policy, value):
        outputs = lambda value, policy: {"x": 1.0}  # noqa: E731
        over = {"level": {"one": value}}
        return sweep(lambda level: level, {"one": policy}, over, outputs, checkpoint=tmp_path / file)

    def queues(n, weight):
        names = [f"queue {k}" for k in range(n)]
        weights = [1.0] * (n - 1) + [weight]
        parents = [-1] + [0] * (n - 1)
        return Hierarchical(
            Tree(names, parents, weights=weights, job_classes=POOL.job_classes, class_nodes=[1, n - 1])
        )

    def pool(demand):
        return Problem([[1.0, demand]], [1.0, 1.0])

    for n in (3, 50):
        assert repr(queues(n, 1.0)) == repr(queues(n, 1.0 + 1e-9))
        kept(f"{n} queues", used := queues(n, 1.0), POOL)
        used(POOL, [1, 1])
        kept(f"{n} queues", used, POOL)  # nothing that it remembers matters
        with pytest.raises(ModelError, match="all of the policies was"):
            kept(f"{n} queues", queues(n, 1.0 + 1e-9), POOL)
    assert repr(pool(2.0)) == repr(pool(2.0 + 1e-9))
    kept("pools", DRF(), pool(2.0))
    with pytest.raises(ModelError, match="all of the values of 'level' was"):
        kept("pools", DRF(), pool(2.0 + 1e-9))


def foreign(path):
    """A database of somebody else."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE pieces (key TEXT)")
    return path.read_bytes()


def of_another_kind(path):
    """A checkpoint of other work."""
    with Checkpoint(path, "audit", "resume") as file:
        file.begin({"seed": 1})
    return path.read_bytes()


@pytest.mark.parametrize(
    "content", [b"my notes\n", b"my notes", b"\x89HDF\r\n\x1a\n\0\0", foreign, of_another_kind]
)
def test_a_foreign_file_is_left_alone(tmp_path, content):
    path = tmp_path / "c"
    content = content(path) if callable(content) else path.write_bytes(content) and content
    with pytest.raises(ModelError, match="is no checkpoint of sweeps"):
        run(path)
    assert path.read_bytes() == content


def test_points_of_another_format_are_refused(tmp_path, recorded):
    path = tmp_path / "c"
    path.write_bytes(recorded)
    with Checkpoint(path, "sweep", "checkpoint") as file:
        file.write("of before", '{"point": 0, "outputs": {"x": {"dims": [], "dtype": "<f8", "shape": []}}}')
    with pytest.raises(ModelError, match=r"checkpoint: .* holds what this version cannot read .*delete it"):
        run(path)


def test_an_unwritable_path_is_said_before_the_run(tmp_path):
    called = []
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "nowhere" / "c", tmp_path / "folder", "/proc/c"):
        with pytest.raises(ModelError, match=f"checkpoint: cannot write {path}: "):
            run(path, model=lambda load, mix: called.append(load))
    assert not called


@pytest.mark.long
def test_a_file_in_use_is_refused(tmp_path, recorded):
    path = tmp_path / "c"
    path.write_bytes(recorded)
    code = (
        "import sys; from fairness.machine.checkpoint import Checkpoint; "
        "file = Checkpoint(sys.argv[1], 'sweep', 'checkpoint'); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        with pytest.raises(ModelError, match="is in use by another process"):
            run(path)
        other.communicate(b"\n", timeout=PATIENCE)
    run(path)


def test_without_a_seed_the_file_has_it(tmp_path):
    path = tmp_path / "c"
    first = run(path, rng=None)
    without(path, path.read_bytes(), range(5, 16))
    same(run(path, rng=None), first)
    with pytest.raises(ModelError, match="rng was"):
        run(path, rng=5)


def test_recorded_errors_stay_recorded_but_are_raised_when_asked(tmp_path):
    calls = []

    def outputs(instance, policy):
        calls.append(instance)
        if instance > 1:
            raise UnstableError("too much")
        return {"x": 1.0}

    def again(**options):
        calls.clear()
        return sweep(lambda n: n, {"p": 0}, {"n": [1, 2]}, outputs, checkpoint=tmp_path / "c", **options)

    first = again()
    same(again(), first)
    assert calls == []
    with pytest.raises(UnstableError, match="too much"):
        again(errors="raise")
    assert calls == [2]


def test_a_full_disk(tmp_path, whole, recorded):
    path = tmp_path / "c"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, hard))
    try:
        with pytest.raises(SweepInterrupted, match="can no longer be written: ") as caught:
            run(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    # The point that found no room is in the dataset, but not kept.
    done = (caught.value.dataset.error == "").values.sum()
    assert 1 < done < 16
    assert len(kept(path)[1]) == done - 1
    assert f"{done - 1} of 16 points are kept" in caught.value.__notes__[0]
    same(run(path), whole)


def test_the_order_of_arrival_does_not_show(tmp_path):
    def outputs(n, policy):
        # Equal labels of different types, and another order of the names.
        curve = xr.DataArray([n, 2 * n], dims="k", coords={"k": [1, 2] if n else [1.0, 2.0]})
        return {"curve": curve, "x": n} if n else {"x": float(n), "curve": curve}

    path = tmp_path / "c"
    first = sweep(lambda n: n, {"p": 0}, {"n": [0, 1, 2]}, outputs, checkpoint=path, rng=1)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE pieces SET rowid = -rowid")
    again = sweep(lambda n: n, {"p": 0}, {"n": [0, 1, 2]}, outputs, checkpoint=path, rng=1)
    same(again, first)
    assert list(again.data_vars) == list(first.data_vars)


# --- interruptions -------------------------------------------------------------------------------------


def interrupt(instance, policy, rng, flag):
    """``draw``, and Ctrl-C at one point while there is a flag."""
    if instance.loads[0] > 0.5 and os.path.exists(flag):
        raise KeyboardInterrupt
    return draw(instance, policy, rng)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_keyboard_interrupt_keeps_what_is_finished(tmp_path, whole, n_jobs):
    path, flag = tmp_path / "c", tmp_path / "flag"
    flag.touch()
    outputs = partial(interrupt, flag=flag)
    with joblib.parallel_config(backend="threading"), pytest.raises(KeyboardInterrupt) as caught:
        run(path, outputs=outputs, n_jobs=n_jobs)
    number = points_kept(path)
    # Of two threads the first that ends may be the one that is interrupted: there is nothing to tell then.
    notes = "".join(getattr(caught.value, "__notes__", ()))
    assert (f"sweep: {number} of 16 points are kept in {path}" in notes) == (number > 0)
    # In one process the points before the first heavy one, of load 0.6, are there.
    assert number == 8 if n_jobs == 1 else number < 16
    flag.unlink()
    same(run(path, outputs=outputs), whole)


def victim(path, backend):
    """What the process does that is killed."""
    with backend_of(backend, processes=False):
        run(path, n_jobs=2)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["dask"])  # with loky by the command line
def test_a_killed_sweep_resumed_equals_an_uninterrupted_one(tmp_path, whole, backend):
    path = tmp_path / "c"
    code = "import runpy; runpy.run_path(sys.argv[1], run_name='victim')['victim'](*sys.argv[2:])"
    command = [sys.executable, "-c", WAITS.format(points=4) + code, __file__, str(path), backend]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:
        assert stop_at(process, path, signal.SIGKILL) == -signal.SIGKILL
    assert points_kept(path) == 4
    require_nobody_left(process.pid)
    with backend_of(backend, processes=False):
        same(run(path, n_jobs=2), whole)


def die(instance, policy, rng, flag):
    """``draw``, but the worker dies at the last load while there is a flag, once all else is recorded."""
    if instance.loads[0] > 0.7 and flag.exists():
        wait_for((flag.parent / "twelve").exists, "the points before the last load")
        os._exit(3)
    return draw(instance, policy, rng)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["loky", pytest.param("dask", marks=pytest.mark.long)])
def test_a_worker_that_dies_loses_nothing_else(tmp_path, whole, backend, monkeypatch):
    path, flag = tmp_path / "c", tmp_path / "flag"
    flag.touch()

    def write(self, key, text, write=Checkpoint.write):
        write(self, key, text)
        if self.kept == 12:
            (tmp_path / "twelve").touch()

    monkeypatch.setattr(Checkpoint, "write", write)
    outputs = partial(die, flag=flag)
    with backend_of(backend), pytest.raises(SweepInterrupted, match="as when a worker dies") as caught:
        run(path, outputs=outputs, n_jobs=2)
    partly = caught.value.dataset
    done = partly.error.values.ravel() == ""
    # The even mix puts load 0.8/1.1 on the left class, the odd one more: four points kill their worker.
    assert done[:12].all()
    assert not done[12:].all()
    assert "load=0.8" in str(caught.value)
    assert f"{done.sum()} of 16 points are done" in str(caught.value)
    assert points_kept(path) == done.sum()
    np.testing.assert_array_equal(partly.scalar.values.ravel()[done], whole.scalar.values.ravel()[done])
    assert np.isnan(partly.scalar.values.ravel()[~done]).all()
    flag.unlink()
    same(run(path, outputs=outputs), whole)


def swept_inside(seed):
    """A task of a cluster that sweeps on the same cluster."""
    with joblib.parallel_config(backend="dask"):
        return run(rng=seed, progress=False)


@pytest.mark.long
def test_sweeps_inside_tasks_that_fill_all_threads_of_a_cluster(whole):
    distributed = pytest.importorskip("distributed")
    with backend_of("dask", processes=False):
        client = distributed.get_client()
        # Two tasks on two threads: whoever kept a thread while waiting would wait for ever.
        futures = [client.submit(swept_inside, 5, pure=False) for _ in range(2)]
        for dataset in client.gather(futures, errors="raise"):
            same(dataset, whole)


# --- progress ------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_goes_to_standard_error_with_the_remaining_time(tmp_path, monkeypatch, recorded):
    path = tmp_path / "c"
    without(path, recorded, range(12, 16))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(path)
    assert "12/16" in terminal.getvalue()
    assert "16/16" in terminal.getvalue()
    silent = Terminal()
    monkeypatch.setattr(sys, "stderr", silent)
    run(progress=False)
    assert silent.getvalue() == ""
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    run()
    assert file.getvalue() == ""


def test_a_function_that_was_edited_is_another_function(tmp_path):
    def work(factor, power):
        def outputs(instance, policy):
            return {"x": factor * policy(instance, [1.0])[0]}

        def model(level):
            return Problem([[1]], [level**power])

        over = {"level": [2]}
        return sweep(model, [DRF()], over, outputs, checkpoint=tmp_path / "kept").x.item()

    assert work(1, 1) == work(1, 1) == 2
    with pytest.raises(ModelError, match="code of outputs"):
        work(2, 1)
    with pytest.raises(ModelError, match="code of the model"):
        work(1, 2)

    def ask(factor, kept):
        def shared(problem, counts):
            return factor * np.asarray(counts, dtype=float)

        for policy in (shared, one_state(shared), partial(shared)):
            sweep(lambda n: Problem([[1]], [n]), {"own": policy}, {"n": [2]}, _tasks, checkpoint=kept(policy))

    def own(policy):
        return tmp_path / type(policy).__name__

    ask(1, own)
    ask(1, own)
    with pytest.raises(ModelError, match="all of the policies"):
        ask(2, own)


def _tasks(instance, policy):
    return {"tasks": policy(instance, np.ones(1))[0]}


def test_what_a_function_changes_itself_is_no_part_of_it(tmp_path):
    calls, seen = 0, []

    def outputs(instance, policy):
        nonlocal calls
        calls += 1
        seen.append(policy)
        return {"x": 1.0}

    for _ in range(2):
        sweep(lambda n: n, {"p": 0}, {"n": [1, 2]}, outputs, checkpoint=tmp_path / "kept")
    assert calls == len(seen) == 2

"""The memory guard: limits of the machine, of control groups and of the process."""

import math
import resource
import textwrap
import types

import pytest

from fairness import ModelError
from fairness.machine import memory
from fairness.machine.memory import Room, fits_memory, free_memory, memory_guarded, require_memory
from tests.processes import python

GIB = 2**30

TABULATE = """
    import resource, sys
    import numpy as np
    import psutil
    from fairness import DRF, ModelError, Problem
    from queueing import tabulate

    pool = Problem(np.eye(8) + 1, np.full(8, 9.0))
    tabulate(pool, DRF(), 2)
    taken = psutil.Process().memory_info()
    kind, used = {kind}
    resource.setrlimit(kind, (used + 400 * 2**20, resource.getrlimit(kind)[1]))
    try:
        tabulate(pool, DRF(), 9)
    except ModelError as error:
        print(error)
"""
"""400 MiB: several times what the compiled kernels take; the table takes gigabytes."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "told"),
    [("resource.RLIMIT_AS, taken.vms", "ulimit -v"), ("resource.RLIMIT_DATA, taken.data", "ulimit -d")],
)
def test_a_limit_of_the_process_ends_in_a_clear_error(kind, told):
    script = textwrap.dedent(TABULATE.replace("{kind}", kind))
    said = python("-c", script).stdout
    assert told in said
    assert "GiB are free" in said


def process(tmp_path, cgroup, mountinfo):
    """A fake /proc/self; the mount points lie below it."""
    (tmp_path / "cgroup").write_text(cgroup)
    (tmp_path / "mountinfo").write_text(mountinfo.replace("MOUNT", str(tmp_path / "mount")))
    (tmp_path / "mount").mkdir()
    return tmp_path


def group(tmp_path, path, **files):
    place = tmp_path / "mount" / path
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (place / name.replace("__", ".")).write_text(str(text))


def of_fake(tmp_path, monkeypatch):
    """Room of the machine's 100 GiB and of the fake groups."""
    monkeypatch.setattr(memory, "PROCESS", tmp_path)
    monkeypatch.setattr(
        "fairness.machine.memory.psutil.virtual_memory", lambda: types.SimpleNamespace(available=100 * GIB)
    )
    return free_memory()


VERSION_2 = "34 24 0:29 / MOUNT rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
VERSION_1 = (
    "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "31 25 0:32 / MOUNT/elsewhere rw - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / MOUNT rw,relatime - cgroup cgroup rw,memory\n"
)


def test_version_2_counts_what_files_can_give_back(tmp_path, monkeypatch):
    process(tmp_path, "0::/job\n", VERSION_2)
    group(tmp_path, "job", memory__max=8 * GIB, memory__high="max", memory__current=5 * GIB,
          memory__stat=f"anon 17\ninactive_file {2 * GIB}\nactive_file {GIB}\n")  # fmt: skip
    room = of_fake(tmp_path, monkeypatch)
    assert room == Room(5.0 * GIB, " in the control group (cgroup) of this process")
    with pytest.raises(
        ModelError, match=r"a table needs 6 GiB, but only 5 GiB are free in the control group .*; wait"
    ):
        require_memory(6 * GIB, "a table", "wait")
    assert fits_memory(4.4 * GIB)
    assert not fits_memory(4.6 * GIB)  # nine tenths of 5


def test_version_2_keeps_to_high_and_to_the_parents(tmp_path, monkeypatch):
    process(tmp_path, "0::/batch/user/job\n", VERSION_2)
    group(tmp_path, "batch/user/job", memory__max="max", memory__high=9 * GIB, memory__current=GIB)
    assert of_fake(tmp_path, monkeypatch).n_bytes == 8 * GIB
    group(tmp_path, "batch", memory__max=10 * GIB, memory__high="max", memory__current=7 * GIB)
    assert of_fake(tmp_path, monkeypatch).n_bytes == 3 * GIB
    # Used up already, as memory.high allows for a while.
    group(tmp_path, "batch/user", memory__max="max", memory__high=2 * GIB, memory__current=3 * GIB)
    assert of_fake(tmp_path, monkeypatch).n_bytes == 0


def test_version_1_and_its_word_for_no_limit(tmp_path, monkeypatch):
    process(tmp_path, "5:cpu,cpuacct:/other\n4:memory:/slurm/job\n0::/\n", VERSION_1)
    unlimited = 9223372036854771712
    group(tmp_path, "slurm/job", memory__limit_in_bytes=4 * GIB, memory__usage_in_bytes=3 * GIB,
          memory__stat=f"inactive_file 1\ntotal_inactive_file {GIB}\n")  # fmt: skip
    group(tmp_path, "slurm", memory__limit_in_bytes=unlimited, memory__usage_in_bytes=9 * GIB)
    assert of_fake(tmp_path, monkeypatch).n_bytes == 2 * GIB
    group(tmp_path, "slurm/job", memory__limit_in_bytes=unlimited)
    assert of_fake(tmp_path, monkeypatch) == Room(100.0 * GIB, "")


def test_a_container_sees_its_group_as_the_root(tmp_path, monkeypatch):
    # The path is the host's, but what is mounted is the group itself.
    process(tmp_path, "4:memory:/docker/abc\n", VERSION_1.replace(" / MOUNT rw,", " /docker/abc MOUNT rw,"))
    group(tmp_path, ".", memory__limit_in_bytes=GIB, memory__usage_in_bytes=0)
    assert of_fake(tmp_path, monkeypatch).n_bytes == GIB


def test_without_control_groups_the_machine_counts(tmp_path, monkeypatch):
    assert of_fake(tmp_path, monkeypatch).n_bytes == 100 * GIB
    process(tmp_path, "nonsense\n", "34 24 - cgroup2\n")
    assert of_fake(tmp_path, monkeypatch).n_bytes == 100 * GIB


def test_no_room_is_no_negative_room(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda kind: (1, 1))
    assert free_memory().n_bytes == 0
    assert resource.getrlimit(resource.RLIMIT_AS) == (1, 1)


def test_little_needs_no_question(monkeypatch):
    def asked():
        raise AssertionError("asked")

    monkeypatch.setattr(memory, "free_memory", asked)
    require_memory(memory.UNASKED - 1, "a few numbers", "nothing")
    assert fits_memory(memory.UNASKED - 1)
    for big in (memory.UNASKED, math.nan, math.inf):
        with pytest.raises(AssertionError, match="asked"):
            require_memory(big, "many numbers", "nothing")


def test_a_memory_error_that_no_estimate_foresaw_is_explained():
    told = r"a thing needs more memory than the .* that are free.*; rest"
    with pytest.raises(ModelError, match=told), memory_guarded("a thing", "rest"):
        raise MemoryError


def test_a_limit_of_the_process_stands_apart_from_the_words_before(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda kind: (1, 1))
    with pytest.raises(ModelError, match=r"GiB are free under the limit of this process \(.*\); stop"):
        require_memory(2**30, "a table", "stop")
    words = r"that are free under the limit of this process \(ulimit"
    with pytest.raises(ModelError, match=words), memory_guarded("a table", "stop"):
        raise MemoryError

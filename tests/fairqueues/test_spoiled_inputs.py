"""Scenarios, models, chains, networks, results and statements as people and machines spoil them.

What is read is an object or a refusal in one line; nothing else happens, whatever the bytes are. More of it:
``FUZZ=100 pytest tests/fairqueues/test_spoiled_inputs.py``. Traces have such tests beside their readers.
"""

import gzip
import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from fairness import DRF, Cluster, FairqueuesError, Problem, allocate
from fairness.display import storage
from fairqueues.console.conjectures import own_statements
from fairqueues.errors import WrongUse
from fairqueues.exchange import read_chain, read_problem, write_chain, write_problem
from fairqueues.scenario import Scenario
from queueing.networks.graph_files import read_graphml
from tests.fairqueues.exchange.test_chain_files import random_chain
from tests.fairqueues.traces.mutations import spoiled

ROOT = Path(__file__).parents[2]
MORE = int(os.environ.get("FUZZ", "1"))

NETWORK = """\
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="c" for="edge" attr.name="gbps" attr.type="double"/>
<graph edgedefault="undirected">
<node id="Oslo"/><node id="Bergen"/><node id="Bodo"/>
<edge source="Oslo" target="Bergen"><data key="c">10.5</data></edge>
<edge source="Oslo" target="Bodo"><data key="c">2</data></edge>
</graph>
</graphml>
"""
STATEMENTS = """\
[[statement]]
id = "reciprocals"
words = "A number and its reciprocal add up to 2 at least."
letters = ["x", "y"]
assume = { first = "x > 0", product = "x*y == 1" }
claim = "x + y >= 2"
steps = ["(x - y)**2 >= 0"]

[[statement]]
claim = "sum[i](x[i]**2) >= 0"
"""


def scenarios(folder):
    files = sorted((ROOT / "examples/scenarios").glob("*.toml"))
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def models(folder):
    write_problem(Problem([[10, 1], [1, 10]], [1, 1], weights=[2, 1], limits=[3, 4]), folder / "pool.json")
    write_problem(Cluster([[1, 0.5], [2, 1]], [[4, 8], [4, 2]]), folder / "cluster.json")
    return {file.name: file.read_text() for file in (folder / "pool.json", folder / "cluster.json")}


def chains(folder):
    chain = random_chain(np.random.default_rng(1), 6)
    files = write_chain(chain, folder / "c", kinds=["mtx", "csv", "prism", "storm"])
    return {file.name: file.read_text() for file in files}


def results(folder):
    """An allocation, and one object of every type, as a release wrote them."""
    allocate(Problem([[10, 1], [1, 10]], [1, 1]), DRF(), [2, 3]).save(folder / "own.json")
    golden = gzip.decompress((ROOT / "tests/golden/results-1.json.gz").read_bytes()).decode()
    return {"own.json": (folder / "own.json").read_text(), "golden.json": golden}


def read_signed(path):
    """A result whose digest is right, where there is one: else nothing but the digest would be looked at."""
    with suppress(Exception):  # other files are read as they are
        document = json.loads(path.read_bytes())
        document["digest"] = storage._digest({name: document[name] for name in ("result", "parts")})
        path.write_text(json.dumps(document))
    return storage.read(path)


def read_any_chain(path):
    """The file itself, or the chain that it is a part of."""
    stem = path.name.split(".")[0].split("_")[0]
    mains = (path.parent / f"{stem}{end}" for end in (".tra", ".mtx", ".drn"))
    return [read_chain(main) for main in mains if main.exists()]


KINDS = {
    "scenario": (scenarios, Scenario.read),
    "model": (models, read_problem),
    "chain": (chains, read_any_chain),
    "network": (lambda folder: {"n.graphml": NETWORK}, lambda path: read_graphml(path, capacity="gbps")),
    "result": (results, read_signed),
    "statements": (lambda folder: {"own.toml": STATEMENTS}, own_statements),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [60, pytest.param(400, marks=pytest.mark.long)])
def test_what_is_spoiled_is_read_or_refused_in_one_line(kind, count, tmp_path):
    make, read = KINDS[kind]
    texts = make(tmp_path)
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in texts:
        read(tmp_path / name)  # what is right is read
    refused = 0
    for seed in range(MORE * (count if kind != "result" else count // 5)):
        name = list(texts)[seed % len(texts)]
        (tmp_path / name).write_bytes(spoiled(name.replace(".csv", ".txt"), texts[name], seed, len(kind)))
        try:
            read(tmp_path / name)
        except (FairqueuesError, WrongUse) as error:
            refused += 1
            if "\n" in str(error):
                pytest.fail(f"{kind}, {name}, seed {seed}: {error}")
        except Exception as error:
            error.add_note(f"{kind}, {name}, seed {seed}")
            raise
        (tmp_path / name).write_text(texts[name], encoding="utf-8")
    assert refused > count // 50

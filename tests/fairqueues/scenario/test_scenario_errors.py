"""Wrong files: one line that names file, line and key, and says what to do."""

import gzip
import re

import pytest

from fairness import ModelError
from fairqueues.scenario import Scenario, ScenarioError, reading

# Line 1 is the title; [pool] stands on line 3, capacities on line 8; more begins on line 9.
POOL = """title = "t"
policies = ["drf"]
[pool]
demands = [
  [1, 4],
  [3, 1],
]
capacities = [9, 18]
"""
CLUSTER = """title = "t"
policies = ["psdsf"]
[cluster]
demands = [[1, 2], [1, 0]]
capacities = [[9, 12], [12, 0]]
"""
# [tree] stands on line 9.
QUEUES = (
    POOL
    + """[tree]
a = { weight = 2, minimum = { "resource 1" = 4 }, maximum = { "resource 1" = 5 } }
"a/b" = { classes = ["class 1"] }
c = { classes = ["class 2"] }
"""
)
TRAFFIC = "[traffic]\nloads = [1, 1]\n"


def _with(old, new, text=POOL):
    assert old in text
    return text.replace(old, new)


# The text; line and key that the message names; what it says.
WRONG = [
    # the text itself
    ("", 1, "", "the file is empty; give"),
    ("# nothing\n\n", 1, "", "the file is empty"),
    ('title = "t"\n[pool\n', 2, "", "no valid TOML: Expected ']'"),
    ('title = "t"\n[pool]\ndemands = [[1,\n', 3, "", "no valid TOML"),
    (POOL + "capacities = [1, 2]\n", 9, "", "no valid TOML: Cannot overwrite a value"),
    ('title = "t"\n', 1, "", r"no model; add a table \[pool\]"),
    # keys
    ('title = "t"\n[pool]\ndemands = [[1]]\n', 2, "pool", "the key 'capacities' is missing; Units of"),
    (_with("capacities", "capacites"), 8, "pool", "unknown key 'capacites'; did you mean 'capacities'?"),
    ('titel = "t"\n' + POOL, 1, "", "unknown key 'titel'; did you mean 'title'?"),
    (POOL + "tail = 0.1\n", 9, "pool", r"unknown key 'tail'; it belongs to \[chain\]"),
    (POOL + "seed = 3\n", 9, "pool", "unknown key 'seed'; write it before the first table"),
    (POOL + "chain = 3\n", 9, "pool", r"unknown key 'chain'; write it as \[chain\]"),
    (POOL + TRAFFIC + "[sweep]\nover = { load = { start = 0, stop = 1, numbr = 2 } }\n", 12,
        "sweep.over.load", "unknown key 'numbr'"),
    (POOL + TRAFFIC + "[sweep]\nover = { load = { start = 0, stop = 1 } }\n", 12, "sweep.over.load",
        "the key 'number' is missing"),
    # types and ranges
    (_with("[9, 18]", '["9", 18]'), 8, "pool.capacities[0]", "got '9'; capacities must be a finite"),
    (_with("[9, 18]", "[true, 18]"), 8, "pool.capacities[0]", "got true; capacities must be"),
    (_with("[9, 18]", "9"), 8, "pool.capacities", r"got 9; capacities must be a list"),
    (_with('"t"', "3"), 1, "title", "got 3; title must be text in quotes"),
    (_with('["drf"]', '"drf"'), 2, "policies", "got 'drf'; policies must be a list"),
    ("traffic = 3\n" + POOL, 1, "traffic", "got 3; traffic must be a table"),
    (POOL + "[[traffic]]\nload = 1\n", 9, "traffic", "traffic must be a table"),
    (_with("[3, 1]", "[3, -1]"), 6, "pool.demands[1][1]", "got -1; demands must be a finite number >= 0"),
    (_with("[1, 4]", "[nan, 4]"), 5, "pool.demands[0][0]", "got nan; demands must be a finite number >= 0"),
    (_with("[9, 18]", "[9, inf]"), 8, "pool.capacities[1]", "got inf; capacities must be a finite"),
    (_with("[9, 18]", f"[9, 1{'0' * 400}]"), 8, "pool.capacities[1]", "must be a finite number"),
    (_with("[9, 18]", "[1e300, 18]", _with("[1, 4]", "[1e-300, 4]")), 5, "pool.demands[0][0]",
        "beyond the range of floats"),
    (_with("[1, 4]", '["1/0", 4]'), 5, "pool.demands[0][0]", "got '1/0'; .*a fraction"),
    (_with("[9, 18]", "[]"), 8, "pool.capacities", "must be a list with at least one entry"),
    (POOL + "weights = [1, 0]\n", 9, "pool.weights[1]", "got 0; weights must be a finite number > 0"),
    ("seed = -1\n" + POOL, 1, "seed", "got -1; seed must be a whole number >= 0"),
    ("seed = 1.5\n" + POOL, 1, "seed", "got 1.5; seed must be a whole number"),
    (POOL + TRAFFIC + '[chain]\nsolver = "lu"\n', 12, "chain.solver",
        "must be 'auto', 'product', 'elimination' or"),
    # queues
    ("title = 't'\n[tree]\na = {}\n[cloud]\ntenants = 3\nresources = 2\nprofile = \"U0\"\n", 2, "tree",
        "needs a model"),
    (_with("weight = 2", "wait = 2", QUEUES), 10, "tree.a", "unknown key 'wait'; did you mean 'weight'"),
    (_with("weight = 2", "weight = 0", QUEUES), 10, "tree.a.weight", "must be a finite number > 0"),
    (_with('["class 1"]', '["class 3"]', QUEUES), 11, "tree.a/b.classes[0]", "unknown class 'class 3'; did"),
    (_with('["class 1"]', '["class 2"]', QUEUES), 12, "tree.c.classes[0]", "'class 2' is in 'a/b' too"),
    (_with('["class 1"]', "[]", QUEUES), 9, "tree", "the class 'class 1' is in no queue; add it"),
    (_with('["class 1"]', '"class 1"', QUEUES), 11, "tree.a/b.classes", "must be a list"),
    (_with('"a/b"', '"d/b"', QUEUES), 11, "tree.d/b", "there is no queue 'd' above it; add 'd' = {}"),
    (_with('"a/b"', '"a//b"', QUEUES), 11, "tree.a//b", "a queue is a path of names below the root"),
    (_with("minimum = { \"resource 1\"", "minimum = { gpu", QUEUES), 10, "tree.a.minimum.gpu",
        "unknown resource 'gpu'"),
    (_with("= 5 }", "= 3 }", QUEUES), 10, "tree.a.minimum", "is 4 of 'resource 1', above its maximum of 3"),
    (_with('"class 2"] }', '"class 2"], minimum = { "resource 1" = 10 }, lends = { "resource 1" = 0 } }',
           QUEUES), 12, "tree.c.lends", "not lent, root/c 10, is more than the capacity, 9"),
    (_with("= 5 }", "= -5 }", QUEUES), 10, "tree.a.maximum.resource 1", "must be a number >= 0"),
    (_with("[tree]", '[tree]\n"/" = { weight = 2 }', QUEUES), 10, "tree./.weight", "the root has no sib"),
    (_with("[tree]", '[tree]\n"/" = { classes = ["class 1"] }', QUEUES), 12, "tree.a/b.classes[0]",
        "'class 1' is in '/' too"),
    (_with("c = {", '"\\u0007" = {', QUEUES), 12, "tree.\x07", "write names that can be shown"),
    # shapes and names
    (_with("[3, 1]", "[3]"), 6, "pool.demands[1]", "got 1 entries; all rows of demands must have 2"),
    (_with("[9, 18]", "[9, 18, 3]"), 8, "pool.capacities", r"capacities must have shape \(2,\); got \(3,\)"),
    (POOL + 'job_classes = ["A", "A"]\n', 9, "pool.job_classes", "must be distinct; 'A' occurs more"),
    (POOL + 'resources = ["A"]\n', 9, "pool.resources", "must list 2 names"),
    ("counts = [1]\n" + POOL, 1, "counts", "counts has 1 entries for 2 job classes"),
    (_with("[1, 4]", "[0, 0]"), 5, "pool.demands[0]", "demands nothing and has no limit"),
    (POOL + CLUSTER.split("\n", 2)[2], 9, "cluster", r"there is \[pool\] too; remove one"),
    (CLUSTER + "eligible = [[true, 1], [true, true]]\n", 6, "cluster.eligible[0][1]",
        "must be true or false"),
    (CLUSTER + "eligible = [[false, false], [true, true]]\n", 6, "cluster.eligible[0]", "can run nowhere"),
    (CLUSTER + "gamma = [[6, 1], [9, 12]]\n", 6, "cluster.gamma[0][1]", "gamma contradicts the model"),
    # policies
    (_with("drf", "dfr"), 2, "policies[0]", "unknown policy 'dfr'; did you mean 'drf'?"),
    (_with('"drf"', '"drf", "DRF"'), 2, "policies[1]", "'DRF' is there twice"),
    (_with("drf", "psdsf"), 2, "policies[0]", "'psdsf' is for servers, .* one pool; take one of"),
    (_with("psdsf", "pf", CLUSTER), 2, "policies[0]", "'pf' is for one pool, .* servers; take"),
    (_with("drf", "alpha"), 2, "policies[0]", "'alpha' needs the parameter 'alpha'; .*alpha:2"),
    (_with("drf", "alpha:-1"), 2, "policies[0]", "alpha must be a number >= 0"),
    (_with('"drf"', "3"), 2, "policies[0]", "must be a name in quotes"),
    (_with('"drf"', '{ policy = "tdrf", join_times = [1] }'), 2, "policies[0].join_times",
        "join_times has 1 entries; the problem has 2"),
    # traffic
    (POOL + TRAFFIC + "arrival_rates = [1, 1]\n", 10, "traffic.loads",
        "loads and arrival_rates are both given"),
    (POOL + "[traffic]\nmix = [1, 1]\n", 9, "traffic", "mix needs load"),
    (POOL + TRAFFIC + "load = 0.5\n", 11, "traffic.load", "load goes with mix"),
    (POOL + "[traffic]\nmean_sizes = 2\n", 9, "traffic", "give arrival_rates, or loads, or mix and load"),
    (POOL + "[traffic]\nloads = [1]\n", 10, "traffic.loads", "loads has 1 entries for 2 job classes"),
    (POOL + TRAFFIC + "mean_sizes = [1, 2, 3]\n", 11, "traffic.mean_sizes",
        "has 3 entries for 2 job classes; give one, or"),
    (POOL + TRAFFIC + "mean_sizes = 0\n", 11, "traffic.mean_sizes", "got 0; .* number > 0 or a list"),
    (POOL + "[traffic]\nmix = [0, 0]\nload = 0.5\n", 10, "traffic.mix", "mix .* must be positive"),
    (POOL + TRAFFIC + 'sizes = "erlangs:2"\n', 11, "traffic.sizes", "did you mean 'erlang'"),
    (POOL + TRAFFIC + 'sizes = ["erlang:2",\n"erlang:x"]\n', 12, "traffic.sizes[1]",
        "phases of an Erlang law must be"),
    (POOL + TRAFFIC + 'sizes = { law = "hyperexponential", scv = 0.5 }\n', 11, "traffic.sizes.scv",
        "scv .* is >= 1; got 0.5"),
    (POOL + TRAFFIC + 'sizes = ["erlang:2"]\n', 11, "traffic.sizes", "1 entries for 2 job classes"),
    (POOL + TRAFFIC + 'arrivals = "on-of:1:2"\n', 11, "traffic.arrivals", "did you mean 'on-off'"),
    (POOL + "[traffic]\nloads = [3, 3]\n[chain]\n", 10, "traffic.loads",
        r"no stationary law: .* not on 'resource 1' \(load 1.33"),
    (CLUSTER + "[traffic]\nmix = [1, 1]\nload = 1.5\n[chain]\n", 8, "traffic.load",
        "no stationary law: no placement"),
    # what to compute
    (POOL + TRAFFIC + "[chain]\nshape = [100000, 100000]\n", 12, "chain.shape", "shape has 1e.10 states"),
    (POOL + TRAFFIC + "[chain]\nshape = [10]\n", 12, "chain.shape", "shape has 1 entries for 2"),
    (POOL + "[chain]\n", 9, "chain", r"needs \[traffic\]"),
    (POOL + TRAFFIC + "[fluid]\n", 11, "fluid", "the key 'start' is missing"),
    (POOL + TRAFFIC + "[fluid]\nstart = [1, 2, 3]\n", 12, "fluid.start", "has 3 entries for 2"),
    (POOL + '[simulation]\nlevel = "job"\n', 10, "simulation.level", "must be 'jobs', 'counts' or 'tasks'"),
    (POOL + '[simulation]\nlevel = "tasks"\nplacement = "best-fit"\n', 11, "simulation.placement",
        r"for a \[cluster\]"),
    (CLUSTER + '[simulation]\nlevel = "tasks"\nplacement = "best"\n', 8, "simulation.placement",
        "did you mean 'best-fit'"),
    (POOL + '[simulation]\nlevel = "tasks"\nschedulers = ["drf", "lifo"]\n', 11, "simulation.schedulers[1]",
        "mean 'fifo'"),
    (POOL + "[simulation]\ntask_times = 'exponential'\n", 10, "simulation.task_times", "whole tasks"),
    (POOL + "[simulation]\nlevel = 'counts'\njobs = 5\n", 11, "simulation.jobs", "give events instead"),
    (POOL + '[simulation]\nlevel = "counts"\norder = "srpt"\n', 11, "simulation.order", "is for level"),
    (POOL + '[simulation]\norder = ["srpt"]\n', 10, "simulation.order", "1 entries for 2 job classes"),
    (POOL + '[simulation]\norder = ["srpt", "lifo"]\n', 10, "simulation.order[1]", "got 'lifo'"),
    (POOL + '[region]\nkind = "service"\n', 9, "region", "needs minimum_service_rate"),
    (POOL + '[region]\nkind = "service"\nminimum_service_rate = 1\nmethod = "balance"\n', 12, "region.method",
        "unknown policy"),
    (POOL + '[region]\nmethod = "pf"\n', 10, "region.method", 'for kind = "service"'),
    (CLUSTER + '[region]\nkind = "service"\nminimum_service_rate = 1\n', 7, "region.kind", "is for one pool"),
    (POOL + TRAFFIC + '[sweep]\nover = { "loads.class 3" = [0.1] }\n', 12, "sweep.over.loads.class 3",
        "did you mean 'loads.class"),
    (POOL + TRAFFIC + "[sweep]\nover = { load = [0.1] }\n", 12, "sweep.over.load", "load scales a mix"),
    (POOL + TRAFFIC + '[sweep]\nmethods = ["bound", "balance"]\nover = { mean_sizes = [1] }\n', 12,
        "sweep.methods[1]", "unknown policy 'balance'"),
    (POOL + TRAFFIC + '[sweep]\nmethods = ["bound", "drf", "bound"]\nover = { mean_sizes = [1] }\n', 12,
        "sweep.methods[2]", "'bound' is there twice"),
    (CLUSTER + TRAFFIC + '[sweep]\nmethods = ["balanced"]\nover = { mean_sizes = [1] }\n', 9,
        "sweep.methods[0]", "'balanced' is known for one pool, but the model has servers"),
    (POOL + TRAFFIC + '[sweep]\nover = { "weights.class 1" = [1, -2] }\n', 12, "sweep.over.weights.class 1",
        "got -2; .*must be > 0"),
    (POOL + TRAFFIC + "[sweep]\nover = { mean_sizes = [1, 1] }\n", 12, "sweep.over.mean_sizes",
        "there twice"),
    (POOL + TRAFFIC + "[sweep]\nover = { mean_sizes = [] }\n", 12, "sweep.over.mean_sizes", "list is empty"),
    (POOL + TRAFFIC + "[sweep]\nover = { mean_sizes = 3 }\n", 12, "sweep.over.mean_sizes",
        "a table .* or a list"),
    (POOL + TRAFFIC + "[sweep.over]\nmean_sizes = { start = 1, stop = 2, number = 10000 }\n"
        '"weights.class 1" = { start = 1, stop = 2, number = 10000 }\n',
        11, "sweep.over", r"100,000,000 points, more than 1,000,000;"),
    ('[cloud]\ntenants = 1000000000000\nresources = 1000\nprofile = "G0"\n', 2, "cloud.tenants",
        "GiB are free.*; take fewer tenants"),
    ('[cloud]\ntenants = 10\nresources = 10\nprofile = "G7"\n', 4, "cloud.profile",
        "got 'G7'; profile must be"),
    (POOL + TRAFFIC + "[targets]\ncosts = [1]\n", 12, "targets.costs", "costs has 1 entries for 2 resources"),
    (POOL + TRAFFIC + "[targets]\ncosts = [1, 2]\nminimum_service_rates = -1\n", 13,
        "targets.minimum_service_rates", "got -1; minimum_service_rates must be a finite number > 0"),
    (POOL + '[audit]\nproperties = ["SI", "XX"]\n', 10, "audit.properties[1]", "unknown property 'XX'"),
    # networks
    ('[network]\nbackbone = "abilen"\ntraffic = {}\n', 2, "network.backbone", "did you mean 'abilene'"),
    ("[network]\ntraffic = {}\n", 1, "network", "give either a backbone or links"),
    ('[network]\nbackbone = "abilene"\n', 1, "network", "give either routes or traffic"),
    ('[network]\nlinks = [["A", "B", 1],\n["B", "C"]]\nroutes = { a = ["A", "B"] }\n', 3, "network.links[1]",
        "a link such as"),
    ('[network]\nlinks = [["A", "B", 1],\n["B", "A", 2]]\nroutes = { a = ["A", "B"] }\n', 3,
        "network.links[1]", "there are two"),
    ('[network]\nlinks = [["A", "B", 1]]\n[network.routes]\na = ["A", "B"]\nb = ["A", "C"]\n', 5,
        "network.routes.b", "names the node 'C'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_a_wrong_file_is_told_in_one_line(text, line, key, said):
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text, "file.toml")
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    start = f"file.toml, line {line}: " if not key else f"file.toml, line {line}, {key}: "
    assert message.startswith(start), message
    assert re.search(said, message[len(start) :]), message
    place = "".join(f"[{k}]" for k in caught.value.index)
    assert key.endswith(f"{caught.value.argument or ''}{place}")


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(ScenarioError, match=r"absent\.toml: cannot be read: No such file or directory; give"):
        Scenario.read(tmp_path / "absent.toml")
    with pytest.raises(ScenarioError, match="cannot be read: Is a directory"):
        Scenario.read(tmp_path)
    with pytest.raises(ScenarioError, match=r"cannot be read: .*null"):
        Scenario.read("a\0b")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\x7fELF\xff\xfe\x00")
    with pytest.raises(
        ScenarioError, match=r"binary\.toml, line 1: is no text in UTF-8; save the file as UTF-8"
    ):
        Scenario.read(binary)
    binary.write_bytes(b"# two\ntitle = \x00")
    with pytest.raises(ScenarioError, match=r"binary\.toml, line 2: is no text"):
        Scenario.read(binary)
    packed = tmp_path / "packed.toml.gz"
    packed.write_bytes(gzip.compress(b"[pool]\ndemands = [[1]]\ncapacities = [2]\n"))
    assert Scenario.read(packed).model.n_classes == 1
    binary.write_bytes(b"title = 1")
    monkeypatch.setattr(reading, "WRITTEN", 3)
    with pytest.raises(
        ScenarioError, match="cannot be read: it is larger than 0 MiB; give a scenario, a short file"
    ):
        Scenario.read(binary)


def test_all_errors_are_model_errors_and_value_errors():
    assert issubclass(ScenarioError, ModelError)
    assert issubclass(ScenarioError, ValueError)


def test_an_unstable_load_is_no_error_where_it_can_be_computed_with():
    scenario = Scenario.parse(POOL + "[traffic]\nloads = [3, 3]\n[fluid]\nstart = [1, 1]\n", "file.toml")
    with pytest.raises(ScenarioError, match=r"^file\.toml, line 10, traffic\.loads: no stationary law"):
        _ = scenario.stable_system

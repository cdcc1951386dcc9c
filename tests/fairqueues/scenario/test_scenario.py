"""Scenarios: what they give, names of policies and laws, positions in a text, writing and reading back."""

import pickle
import re
import tomllib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairness import DRF, PSDSF, AlphaFair, Cluster, ModelError, Problem, Tree
from fairqueues.scenario import Scenario, ScenarioError, names, schema
from fairqueues.scenario.queues import tree_table
from fairqueues.scenario.toml_text import key_lines, toml
from queueing import Erlang, Hyperexponential, OnOff, Renewal, System, TruncatedPareto
from queueing.model.scipy_law import ScipyLaw

POOL = """title = "pool"
policies = ["drf", "Alpha: 2"]

[pool]
demands = [["1/3", 4], [3, 1]]
capacities = [9, 18]
"""


def test_a_scenario_gives_what_the_file_says():
    scenario = Scenario.parse(POOL + "[traffic]\narrival_rates = [1, 2]\nmean_sizes = [2, 0.5]\n")
    assert (scenario.title, scenario.source, scenario.seed) == ("pool", None, 1)
    assert scenario.model.as_fractions()[0][0][0] == Fraction(1, 3)
    assert scenario.counts.tolist() == [1, 1]
    drf, alpha = scenario.policies
    assert (drf.name, alpha.alpha) == ("DRF", 2)
    assert scenario.system.loads.tolist() == [2, 1]
    assert len(scenario.system.sizes) == len(scenario.system.arrivals) == 2


def test_loads_and_mix_are_arrival_rates_times_mean_sizes():
    by_loads = Scenario.parse(POOL + "[traffic]\nloads = [1, 2]\nmean_sizes = [2, 4]\n").system
    assert by_loads.arrival_rates.tolist() == [0.5, 0.5]
    by_mix = Scenario.parse(POOL + "[traffic]\nmix = [1, 2]\nload = 0.5\nmean_sizes = [2, 4]\n").system
    assert by_mix.relative_loads.max() == pytest.approx(0.5, rel=1e-12)


def test_a_section_that_is_absent_has_its_defaults_or_is_asked_for():
    scenario = Scenario.parse(POOL)
    assert not scenario.has("chain")
    assert scenario.section("chain").tail == 1e-9
    with pytest.raises(ScenarioError, match=r"^<text>, line 1: needs \[fluid\] with start$"):
        scenario.section("fluid")
    with pytest.raises(ScenarioError, match=r"needs \[traffic\]"):
        _ = scenario.system
    with pytest.raises(ScenarioError, match="did you mean 'chain'"):
        scenario.has("chains")


def test_scenarios_compare_by_content_and_travel_to_other_processes():
    scenario = Scenario.parse(POOL)
    assert scenario == Scenario.parse("# a comment\n" + POOL, "other.toml")
    assert scenario != Scenario.parse(POOL.replace("18", "19"))
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert hash(scenario) == hash(Scenario.parse(scenario.to_toml()))


TREE = (
    POOL
    + """
[tree]
research = { weight = "1/2", minimum = { "resource 2" = 4 }, lends = { "resource 2" = 1 } }
"research/vision" = { classes = ["class 1"], maximum = { "resource 1" = 8 } }
"/" = { classes = ["class 2"] }
"""
)


def test_a_tree_of_queues():
    scenario = Scenario.parse(TREE, "t.toml")
    tree = scenario.tree
    assert tree.names == ("root", "research", "vision")
    assert tree.parents.tolist() == [-1, 0, 1]
    assert tree.weights.tolist() == [1, 0.5, 1]
    assert tree.class_nodes[list(tree.job_classes).index("class 1")] == 2
    assert tree.resources == scenario.model.resources
    assert tree.minimum.tolist() == [[0, 0], [0, 4], [0, 0]]
    assert tree.maximum[2].tolist() == [8, np.inf]
    assert tree.reserve[1].tolist() == [0, 3]
    assert Scenario.parse(scenario.to_toml()).tree == tree
    again = {**scenario.document.model_dump(exclude_unset=True), "tree": tree_table(tree, scenario.model)}
    assert Scenario.of(again).tree == tree
    assert Scenario.parse(POOL).tree is None


def on_trees(servers):
    return [name for name, one in names.POLICIES.items() if one.on_tree and one.servers == servers]


@pytest.mark.parametrize("name", on_trees(servers=False))
def test_policies_of_a_tree(name):
    free = re.sub(
        r", (minimum|maximum|lends) = \{[^}]*\}", "", TREE
    )  # what acts at the leaves keeps no bounds
    scenario = Scenario.parse(free.replace('"drf", "Alpha: 2"', f'"{name}"'))
    (policy,) = scenario.policies
    assert policy.tree == scenario.tree
    assert policy.policy == names.policy_named(names.POLICIES[name].fixed["policy"])
    assert names.policy_spec(policy) == name
    again = Scenario.of_system(System(scenario.model, [1, 1]), [policy])
    assert again.tree == scenario.tree
    assert again.policies == (policy,)
    assert names.POLICIES[name].about


CLUSTER_TREE = """
[cluster]
demands = [[1, 2], [1, 0]]
capacities = [[9, 12], [12, 0]]
[tree]
a = { classes = ["class 1"] }
b = { classes = ["class 2"] }
"""


@pytest.mark.parametrize("name", on_trees(servers=True))
def test_policies_of_a_tree_on_servers(name):
    scenario = Scenario.parse(f'title = "t"\npolicies = ["{name}"]{CLUSTER_TREE}')
    (policy,) = scenario.policies
    assert policy.tree == scenario.tree
    assert policy.policy == names.policy_named(names.POLICIES[name].fixed["policy"])
    assert names.policy_spec(policy) == name
    assert names.POLICIES[name].about
    with pytest.raises(ModelError, match="the model has servers; take one of h-psdsf"):
        names.policy_named("h-drf", cluster=True, tree=scenario.tree)
    with pytest.raises(ModelError, match="the model has one pool; take one of h-mmf"):
        names.policy_named(name, cluster=False, tree=scenario.tree)


def test_parameters_of_policies_of_a_tree():
    tree = Scenario.parse(TREE).tree
    borrowed = names.policy_named("h-drf:borrowed", tree=tree)
    assert (borrowed.measure, borrowed.naive) == ("borrowed", False)
    naive = names.policy_named({"policy": "HDRF", "naive": True}, tree=tree)
    assert names.policy_named(names.policy_spec(naive), tree=tree) == naive
    assert naive.naive
    assert naive != names.policy_named("h-drf", tree=tree)
    with pytest.raises(
        ModelError, match=r"'h-drf' shares among queues, but there are none; add a table \[tree\]"
    ):
        names.policy_named("h-drf")
    with pytest.raises(ModelError, match="did you mean 'h-drf'"):
        names.policy_named("h-drg", cluster=False, tree=tree)
    two = [borrowed, names.policy_named("h-drf", tree=Tree.flat(Scenario.parse(POOL).model))]
    with pytest.raises(ModelError, match="policies have 2 different trees"):
        Scenario.of_system(System(Scenario.parse(POOL).model, [1, 1]), two)


def test_reading_a_file_with_windows_line_ends_and_a_mark(tmp_path):
    file = tmp_path / "s.toml"
    file.write_bytes(b"\xef\xbb\xbf" + POOL.replace("\n", "\r\n").encode())
    assert Scenario.read(file) == Scenario.parse(POOL)
    file.write_bytes(POOL.replace("18", "-18").replace("\n", "\r\n").encode())
    with pytest.raises(ScenarioError, match=r"line 6, pool\.capacities\[1\]"):
        Scenario.read(file)


def test_data_with_arrays_and_fractions():
    scenario = Scenario.of(
        {"pool": {"demands": [[Fraction(1, 3), 1]], "capacities": np.array([1.0, np.float64(2)])}}
    )
    assert scenario.model.demands[0, 0] == 1 / 3
    assert scenario.model.capacities.tolist() == [1, 2]


@pytest.mark.parametrize("kind", ["POLICIES", "LAWS", "ARRIVALS", "SCHEDULERS", "PLACEMENTS"])
def test_every_name_makes_an_object(kind):
    needed = {
        "alpha": ":2", "tdrf": ":1,2", "erlang": ":3", "hyperexponential": ":4", "pareto": ":1.5:100",
        "empirical": ":1,2", "coxian": ":2", "fitted": ":0.3", "on-off": ":1:2",
        "easy": ":1,2",
    }  # fmt: skip
    tables = {
        "mixture": {"law": "mixture", "probabilities": [0.5, 0.5], "means": [1, 3]},
        "phase-type": {"law": "phase-type", "initial": [1, 0], "rates": [[-2, 2], [0, -2]]},
        "map": {"law": "map", "hidden": [[-2, 1], [1, -3]], "arriving": [[1, 0], [1, 1]]},
    }
    read = {
        "LAWS": names.law_named, "ARRIVALS": names.arrivals_named, "SCHEDULERS": names.scheduler_named,
        "PLACEMENTS": names.placement_named,
    }.get(kind, names.policy_named)  # fmt: skip
    for name, entry in getattr(names, kind).items():
        if entry.on_tree:  # they need one
            continue
        assert entry.about
        made = read(tables.get(name, name + needed.get(name, "")))
        assert made is not None
        if read is names.policy_named:
            assert names.policy_named(names.policy_spec(made)) == made
        if kind in ("LAWS", "ARRIVALS"):
            write = names.law_spec if kind == "LAWS" else names.arrivals_spec
            assert repr(read(write(made))) == repr(made)


def test_spellings_and_aliases():
    assert names.policy_named("CEEI") == names.policy_named("pf")
    assert names.policy_named("Per Server_DRF").name == "DRF per server"
    assert names.policy_named("psdsf:time").division == "time"
    assert names.policy_named("tsf:dedicated") == names.policy_named(
        {"policy": "tsf", "weighting": "dedicated"}
    )
    assert names.placement_named("on-arrival:random").rule == "random"
    assert names.arrivals_named({"law": "on-off", "mean_on": 1, "mean_off": 2}).mean_off == 2


def test_what_has_no_name():
    with pytest.raises(ModelError, match="no name leads to the policy"):
        names.policy_spec(lambda problem, counts: counts)
    with pytest.raises(ModelError, match="no name leads to the law"):
        names.law_spec(ScipyLaw(stats.gamma(2)))


@pytest.mark.parametrize(
    "system",
    [
        System(Problem([[Fraction(1, 3), 4], [3, 0]], [9, 18.5], limits=[np.inf, 2]), [1, 0.1], [2, 0.5]),
        System(
            Cluster([[1, 2], [1, 0]], [[9, 12], [12, 0]], eligible=[[True, False], [True, True]]),
            [1, 0.1],
            sizes=[Hyperexponential([0.5, 0.5], [1, 3]), TruncatedPareto(1.5, 100, 2.0)],
            arrivals=[OnOff(10, 90), Renewal(Erlang(2))],
        ),
    ],
)
def test_a_system_becomes_a_file_and_comes_back(system):
    policies = [PSDSF("time")] if system.is_cluster else [DRF(), AlphaFair(2)]
    scenario = Scenario.of_system(system, policies)
    again = Scenario.parse(scenario.to_toml())
    assert again.policies == tuple(policies)
    assert again.model.to_dict() == system.problem.to_dict()
    assert again.system.arrival_rates.tolist() == system.arrival_rates.tolist()
    assert again.system.mean_sizes == pytest.approx(system.mean_sizes, rel=1e-15)  # scaled to their means
    assert again.system.arrivals == system.arrivals
    assert [law.scv for law in again.system.sizes] == pytest.approx([law.scv for law in system.sizes])


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("psdff", "did you mean 'psdsf'"),
        ("drf:2:3", "too many parameters"),
        ({"policy": "alpha:2", "alpha": 2}, "not in both"),
        ({"name": "drf"}, "a policy is a name"),
        ({"policy": "maxmin", "alpha": 2}, "it has none"),
        ("alpha:x", "alpha must be"),
        ("drf:x", "resource_weights must be an array of numbers"),
        ({"policy": "alpha", "alpha": 10**400}, r"inf for max-min\); got a number too large for floats"),
        ({"policy": "tdrf", "join_times": [10**400, 1]}, "join_times must hold finite numbers"),
    ],
)
def test_wrong_names(spec, said):
    with pytest.raises(ModelError, match=said):
        names.policy_named(spec)


TRICKY = '''# [a comment]
"a.b" = 1  # = [
text = """one
[not a table]
x = 3 \\""" still
"""
raw = \'\'\'
[no]
\'\'\'
[ first . "se\\u0063ond" ]
x = [ # comment ]
  1,
  { y = "}", z = [
    2, 3] },
]
a.b.c = 2024-01-01T00:00:00Z
[[many]]
k = 'C:\\'
[[many]]
k = 1.5
[many.inner]
j = [[], [
]]
'''


def test_lines_of_a_text_full_of_traps():
    tomllib.loads(TRICKY)
    lines = key_lines(TRICKY)
    expected = {
        ("a.b",): 2, ("text",): 3, ("raw",): 7, ("first",): 10, ("first", "second"): 10,
        ("first", "second", "x"): 11, ("first", "second", "x", 0): 12, ("first", "second", "x", 1): 13,
        ("first", "second", "x", 1, "y"): 13, ("first", "second", "x", 1, "z", 0): 14,
        ("first", "second", "a", "b", "c"): 16, ("many", 0): 17, ("many", 0, "k"): 18, ("many", 1, "k"): 20,
        ("many", 1, "inner"): 21, ("many", 1, "inner", "j", 1): 22,
    }  # fmt: skip
    assert {path: lines.get(path) for path in expected} == expected


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)  # surrogates have no UTF-8
# Without NaN, which is not equal to itself. Integers as large as TOML promises.
_LEAVES = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | _TEXTS
_KEYS = st.text("aé .\"'\\", max_size=3)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


def _paths(value, path=()):
    yield path
    inside = {}
    if isinstance(value, dict | list):
        inside = value if isinstance(value, dict) else dict(enumerate(value))
    for key, inner in inside.items():
        yield from _paths(inner, (*path, key))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(_TEXTS, _VALUES, max_size=4))
def test_what_is_written_is_read_back_and_every_part_has_a_line(data):
    text = toml(data)
    assert tomllib.loads(text) == data
    lines = key_lines(text)
    assert set(_paths(data)) <= set(lines)


def test_schema_describes_every_key():
    found = schema()
    tables = [found, *found["$defs"].values()]
    assert len(tables) > 12
    for table in tables:
        queues = {"$ref": "#/$defs/Queue"}  # of [tree], whose keys are paths
        assert table["additionalProperties"] == (queues if table["title"] == "Queues" else False)
        assert all(key.get("description") for key in table["properties"].values())

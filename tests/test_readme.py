"""The README's example and CONTRIBUTING's recipe run as printed, and what they link to is there."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

from fairness import Problem
from fairness.catalogue import Entry
from fairness.testing import check_policy

ROOT = Path(__file__).parent.parent


def test_readme_example():
    readme = ROOT / "README.md"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failures, attempted = doctest.testfile(str(readme), module_relative=False, optionflags=flags)
    assert attempted >= 8
    assert failures == 0


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_the_recipe_for_a_policy_works_as_printed(tmp_path):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    module, entry = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    path = tmp_path / "partition.py"
    path.write_text(re.sub(r"(?m)^ {3}", "", module))
    spec = importlib.util.spec_from_file_location("partition", path)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    policy = recipe.StaticPartition()
    assert policy(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1]).tolist() == [2.25, 1.5]
    line = eval(entry.strip(), {"Entry": Entry})
    assert line.place == f"{spec.name}:{type(policy).__name__}"
    assert line.name == policy.name
    assert line.skip == {"pareto"}
    check_policy(policy, skip=line.skip)

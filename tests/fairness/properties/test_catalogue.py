"""The list of properties and how one finds one."""

import pytest

from fairness import Cluster, ModelError, Problem
from fairness.properties.definitions.catalogue import PROPERTIES, property_named
from fairness.properties.protocol.property import Property

KEYS = ["SI", "EF", "PE", "SP", "GSP", "SRF", "BF", "PM", "RM", "SC", "DSI", "HSG"]


def test_names_and_keys():
    assert [one.key for one in PROPERTIES] == KEYS
    assert len({one.name for one in PROPERTIES}) == len(PROPERTIES)
    for one in PROPERTIES:
        assert isinstance(one, Property)
        assert property_named(one.name) is one
        assert property_named(one.key.lower()) is one
        assert one.statement.endswith(".")
        for implied in one.implies:
            assert property_named(implied).name == implied
        assert one.applies(one.suit(Problem([[1, 2], [3, 1]], [4, 5])))
        assert one.applies(one.suit(Cluster([[1, 2], [3, 1]], [[4, 5], [6, 6]])))


def test_unknown_names():
    with pytest.raises(
        ModelError, match=r"did you mean 'envy-freeness'\? Known are: sharing incentive \(SI\), "
    ):
        property_named("envy freenes")
    with pytest.raises(ModelError, match="unknown property 'x'"):
        property_named("x")

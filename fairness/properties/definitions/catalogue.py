"""All properties, in the order of the tables; a new one is a file and a line here."""

from __future__ import annotations

from fairness.arguments.plain import near
from fairness.errors import ModelError
from fairness.properties.definitions.bottleneck_fairness import BottleneckFairness
from fairness.properties.definitions.dynamic_incentive import DynamicSharingIncentive
from fairness.properties.definitions.envy_freeness import EnvyFreeness
from fairness.properties.definitions.pareto_efficiency import ParetoEfficiency
from fairness.properties.definitions.population_monotonicity import PopulationMonotonicity
from fairness.properties.definitions.resource_monotonicity import ResourceMonotonicity
from fairness.properties.definitions.scale_invariance import ScaleInvariance
from fairness.properties.definitions.share_guarantee import HierarchicalShareGuarantee
from fairness.properties.definitions.sharing_incentive import SharingIncentive
from fairness.properties.definitions.single_resource import SingleResourceFairness
from fairness.properties.definitions.strategy_proofness import GroupStrategyProofness, StrategyProofness
from fairness.properties.protocol.property import Property

__all__ = ["PROPERTIES", "property_named"]

PROPERTIES: tuple[Property, ...] = (
    SharingIncentive(),
    EnvyFreeness(),
    ParetoEfficiency(),
    StrategyProofness(),
    GroupStrategyProofness(),
    SingleResourceFairness(),
    BottleneckFairness(),
    PopulationMonotonicity(),
    ResourceMonotonicity(),
    ScaleInvariance(),
    DynamicSharingIncentive(),
    HierarchicalShareGuarantee(),
)
"""All properties, in the order of the audit tables."""


def property_named(name: str) -> Property:
    """The property of this name or key; upper and lower case are alike.

    Parameters
    ----------
    name : str
        ``"envy-freeness"`` or ``"EF"``, for example.

    Returns
    -------
    Property

    Raises
    ------
    ModelError
        If there is none; the message lists all, and the nearest.

    Examples
    --------
    >>> property_named("si").name
    'sharing incentive'
    """
    wanted = str(name).casefold()
    known = {word.casefold(): one for one in PROPERTIES for word in (one.name, one.key)}
    if wanted in known:
        return known[wanted]
    choices = ", ".join(f"{one.name} ({one.key})" for one in PROPERTIES)
    raise ModelError(
        f"unknown property {name!r}; {near(wanted, known, 'give another.')} Known are: {choices}"
    )

"""Which policy has which property?

A search for counterexamples: a cross comes with a smallest case, confirmed in fractions; a tick says that
none was found among the cases tried, which is no proof.
"""

from fairness import DRF, AssetFair, MaxMin, ProportionalFair
from fairness.properties import audit

policies = [DRF(), ProportionalFair(), AssetFair(), MaxMin()]
axes = audit(policies, ["SI", "EF", "SP", "PE"], budget=200).plot()

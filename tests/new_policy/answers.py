"""A process whose catalogue has one line more, its argument: what the library then answers, as JSON."""

import json
import sys

from fairness import catalogue

SCENARIO = """
policies = ["utilitarian"]
[pool]
demands = [[1], [2]]
capacities = [2]
[traffic]
arrival_rates = [0.4, 0.2]
mean_sizes = [1, 1]
"""


def main(line: str) -> None:
    entry = eval(line, {"Entry": catalogue.Entry})
    catalogue.CATALOGUE += (entry,)
    # Whoever reads the catalogue does so when it is imported.
    from fairness import Problem, allocate, audit, explain
    from fairness.testing import check_policy
    from fairqueues.explorer import rates as explorer_rates
    from fairqueues.explorer.model import State
    from fairqueues.explorer.views import sharing_view
    from fairqueues.scenario.names import policy_named, policy_spec
    from fairqueues.scenario.scenario import Scenario
    from queueing import fluid_verdict, simulate, stationary

    scenario = Scenario.parse(SCENARIO)
    (policy,), system = scenario.policies, scenario.system
    check_policy(policy, skip=entry.skip, instances=2)
    pool = Problem([[1, 4], [3, 1]], [9, 18])
    allocation = allocate(pool, policy)
    law = stationary(system, policy, tail=1e-4)
    run = simulate(system, policy, jobs=2_000, replications=4, rng=1, progress=False)
    state = State(shown=(entry.name, "DRF"), policy=entry.name, load=0.2)
    explorer_rates.LOADS = explorer_rates.COARSE = (0.3,)
    rates = explorer_rates.rates_view(state)
    told = explain(allocation, 1)
    answers = {
        "named": [type(policy_named(entry.word)).__name__, policy_spec(policy)],
        "allocate": [allocation.tasks.tolist(), allocation.certificate.residual],
        "explain": str(told),
        "compared": str(explain(allocate(pool, catalogue.CATALOGUE[1].policy), 1)),
        "stationary": law.mean_jobs.tolist(),
        "simulate": run.mean_jobs.tolist(),
        "fluid": str(fluid_verdict(system, policy, rng=1)),
        "audit": str(audit([policy], ["SI", "PE"], budget=200)),
        "explorer": {
            "colour": catalogue.colour(entry.name),
            "sharing": str(sharing_view(state)),
            "rates": rates.curves[entry.name].now.tolist(),
            "note": rates.note,
            "file": state.to_toml(),
        },
    }
    print(json.dumps(answers))


if __name__ == "__main__":
    main(sys.argv[1])

"""``python -m fairness.properties``: the audit tables of pools and clusters, with all witnesses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from fairness.arguments.plain import near
from fairness.catalogue import CATALOGUE, CLUSTER_CATALOGUE
from fairness.display.lettering import spelled
from fairness.errors import ModelError
from fairness.properties.counterexamples.audit import audit
from fairness.properties.counterexamples.sketches import DOMAINS
from fairness.protocol.policy import policy_name

__all__ = ["POLICIES", "main"]

POLICIES: dict[str, Any] = {policy_name(e.policy): e.policy for e in (*CATALOGUE, *CLUSTER_CATALOGUE)}
"""What is audited unless ``--policies`` says otherwise."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the audit that the command line describes; 2 if it describes none, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="python -m fairness.properties", description=__doc__)
    parser.add_argument("--budget", type=int, default=2000, help="policy calls per cell (default 2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 for all cores (default 1)")
    parser.add_argument("--domain", choices=DOMAINS, default="positive", help="may demands be zero?")
    parser.add_argument("--policies", nargs="+", metavar="NAME", help=f"any of {', '.join(POLICIES)}")
    parser.add_argument("--properties", nargs="+", metavar="NAME", help="names or keys (default: all)")
    parser.add_argument("--out", metavar="FILE", help="keep finished cells here, and go on from there")
    parser.add_argument("--brief", action="store_true", help="tables only, no witnesses")
    given = parser.parse_args(arguments)
    spelled(sys.stdout, sys.stderr)
    try:
        table = audit(
            [_known(name) for name in given.policies or POLICIES],
            given.properties,
            budget=given.budget,
            rng=given.seed,
            n_jobs=given.jobs,
            domain=given.domain,
            progress=True,
            resume=given.out,
        )
    except ModelError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        kept = f"; the same command goes on from {given.out}" if given.out else ", nothing kept; see --out"
        print(f"interrupted{kept}", file=sys.stderr)
        return 130
    print(table.summary(details=not given.brief))
    return 0


def _known(name: str) -> Any:
    wanted = {known.casefold(): policy for known, policy in POLICIES.items()}
    if name.casefold() not in wanted:
        raise ModelError(f"unknown policy {name!r}; {near(name, POLICIES)}")
    return wanted[name.casefold()]


if __name__ == "__main__":
    sys.exit(main())

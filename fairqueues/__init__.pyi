# ruff: noqa: F403
from capacity import *
from fairness import *
from proofs import Computation as Computation
from proofs import Counterexample as Counterexample
from proofs import Enumeration as Enumeration
from proofs import EvidenceError as EvidenceError
from proofs import Finding as Finding
from proofs import Hypothesis as Hypothesis
from proofs import Implication as Implication
from proofs import InWords as InWords
from proofs import ProofError as ProofError
from proofs import Question as Question
from proofs import Said as Said
from proofs import Search as Search
from proofs import Size as Size
from proofs import Statement as Statement
from proofs import Status as Status
from proofs import Step as Step
from proofs import Verdict as Verdict
from proofs import check as check
from proofs import statements as statements
from proofs import verify as verify
from queueing import *

from .scenario import Scenario as Scenario
from .scenario import ScenarioError as ScenarioError
from .scenario import schema as schema
from .version import __version__ as __version__

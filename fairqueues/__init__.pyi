# ruff: noqa: F403
from capacity import *
from fairness import *
from proofs import *
from queueing import *

from .scenario import Scenario as Scenario
from .scenario import ScenarioError as ScenarioError
from .scenario import schema as schema
from .version import __version__ as __version__

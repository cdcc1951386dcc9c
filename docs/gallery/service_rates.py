"""Mean service rate against load.

Two classes that need opposite resources, A with three times the load of B. Proportional fairness (PF)
follows balanced fairness or does better; the closed-form bound lies a little below; DRF, stable too, lets B
fall behind. On the command line: `fairqueues rates mine.toml --out rates.pdf`.
"""

import numpy as np

from capacity import load_curves
from fairness import DRF, Problem, ProportionalFair
from queueing import System

pool = Problem([[10, 1], [1, 10]], [10, 10], job_classes=["A", "B"], resources=["CPU", "RAM"])
system = System.with_load(pool, mix=[3, 1], load=0.5)
methods = ["balanced", "bound", ProportionalFair(), DRF()]
figure = load_curves(system, methods, np.linspace(0.1, 0.9, 9), progress=False).figure()

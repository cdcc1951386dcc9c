"""How a mean is found: of a policy at one load, by the best method that its time allows.

``found`` (means with their errors) and ``method`` (what each of them is asked) -> ``formulas``, ``optimum``,
``chains``, ``simulations`` -> ``ladder`` (one after another). ``words`` names what is no policy.
"""

"""Job by job, with remaining work: general arrivals and sizes, durations and slowdowns, recorded jobs.

``sampling`` measures and estimates, ``results`` is what it returns; ``arguments``, ``runs``, ``events`` and
``statistics`` are the machine behind them.
"""

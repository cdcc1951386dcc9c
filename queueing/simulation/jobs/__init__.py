"""Job by job, with remaining work: general arrivals and sizes, durations and slowdowns, recorded jobs.

``sampling`` measures and estimates, ``results`` is what it returns; ``runs`` drives the kernel, ``events``.
"""

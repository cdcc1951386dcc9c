"""Task-level simulation on whole units: jobs of many tasks, served task by task by a scheduler.

``schedulers`` (those in Python: ``own_schedulers``), ``placement``, ``options`` and ``workload`` are the
rules; ``state``, ``choice`` and ``events`` the kernel, ``runs`` its driver; ``sampling`` measures and
estimates, ``record`` is one run with every event.
"""

"""One pool: max-min fairness, DRF, PF, BMF, asset fairness, CEEI, whole tasks and TDRF."""

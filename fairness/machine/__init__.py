"""The machine that the code runs on: compiled kernels, memory, time, worker processes."""

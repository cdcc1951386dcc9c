"""Second definitions: programs that know nothing of the solvers with which they are compared."""

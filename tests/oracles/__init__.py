"""Second definitions: programs that know a definition and nothing of the solvers that they are compared with."""

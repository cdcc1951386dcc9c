"""Functions of the counts that shrink outside of a box, with the proofs that they do."""

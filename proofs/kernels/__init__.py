"""Polynomial certificates as theorems that a proof kernel checks: Coq.

The checker of this project is short, but it is this project's own. Here its certificates become theorems on
real numbers, "for all values, the hypotheses imply the conclusion", with proofs that hold nothing but the
identity of the certificate and the signs of its terms. Steps that are computed, enumerated, searched or
reasoned in words are no polynomials: they are listed as comments, and no theorem stands for them. Claims for
sets of every size are theorems on lists in Coq, inductions on natural numbers, and chains of earlier steps
apply their theorems. That the relations mean what the words say is for the reader to judge.
"""

from proofs.kernels.coq import to_coq
from proofs.kernels.files import source_files
from proofs.kernels.theorems import exported_steps

__all__ = ["exported_steps", "source_files", "to_coq"]

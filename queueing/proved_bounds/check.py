"""The verb: what a certificate proves, on request in fractions."""

from __future__ import annotations

from queueing.certificates.checking import Bounds, Checkable, proved
from queueing.proved_bounds.price_guess import guess_prices

__all__ = ["check_certificate"]


def check_certificate(certificate: Checkable, *, exact: bool = False) -> Bounds:
    """Bounds of the means that a certificate proves; at least as narrow as those that it claims.

    Parameters
    ----------
    certificate : Certificate, ChainCertificate, LowerCertificate or UpperCertificate
        One that claims nothing (-inf and inf) is checked as well, and what it proves is returned.
    exact : bool
        Go through the states in exact fractions instead of intervals of floats; for small boxes and chains,
        and policies whose tasks are fractions. Those of the best possible are always checked so.

    Returns
    -------
    Bounds
        ``lower`` and ``upper``, of shape (n_functionals,).

    Raises
    ------
    CertificateError
        If a condition fails; it names the condition, the state and the values.
    ModelError
        If the tasks of the policy are no fractions, but ``exact`` ones are asked for.

    Examples
    --------
    >>> from queueing import FiniteChain, check_certificate, enclose_chain
    >>> enclosure = enclose_chain(FiniteChain([[0, 1], [3, 0]], rewards={"gain": [0, 8]}))
    >>> lower, upper = check_certificate(enclosure.certificate, exact=True)
    >>> lower, upper  # 8/4
    (array([2.]), array([2.]))
    """
    return proved(certificate, exact, guess_prices)

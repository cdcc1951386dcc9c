"""Certificates of means of infinite chains, and the checker that needs no solver."""

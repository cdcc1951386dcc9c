"""Sparse demands of millions of tenants, and who demands a resource."""

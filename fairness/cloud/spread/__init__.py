"""Sharing among tenants whose demands lie on several machines."""

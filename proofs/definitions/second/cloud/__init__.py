"""A second time. Tenants of a cloud: EDRF and DC-DRF in rounds, and whole bundles."""

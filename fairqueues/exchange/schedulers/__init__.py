"""Clusters as other schedulers' files describe them, made into pools, clusters and trees of queues."""

"""The model of a static sharing problem: a pool, or a cluster of servers."""

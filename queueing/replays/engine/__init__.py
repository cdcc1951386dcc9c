"""The kernel of a replay: its state, the queues, the nodes, and the events in the order of time."""

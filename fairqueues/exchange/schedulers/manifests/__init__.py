"""Objects of Kubernetes: nodes and pods, the queues of Kueue and of Volcano."""

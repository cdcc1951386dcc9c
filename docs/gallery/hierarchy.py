"""Queues within queues.

A company of two departments; research weighs twice as much as web and has two groups. The tree shares level
by level, and what one queue cannot use goes to its neighbours first.
"""

from fairness import Hierarchical, Problem, Tree, allocate

research = {"vision": {"classes": ["train", "label"]}, "speech": {"classes": ["asr"]}}
tree = Tree.from_dict(
    {"company": {"queues": {"research": {"weight": 2, "queues": research}, "web": {"classes": ["serve"]}}}}
)
pool = Problem(
    demands=[[4, 1], [2, 0], [2, 1], [1, 0]],
    capacities=[120, 30],
    job_classes=["train", "label", "asr", "serve"],
    resources=["CPU", "GPU"],
)
axes = allocate(pool, Hierarchical(tree)).plot()

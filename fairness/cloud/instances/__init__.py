"""Instances at cloud scale: the paper's profiles, hard families, churn."""

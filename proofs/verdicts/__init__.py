"""What is known about a statement: findings and evidence as data, reasons in words, witnesses, LaTeX."""

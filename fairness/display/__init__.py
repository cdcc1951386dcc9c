"""How models and results show themselves: names in figures, HTML in notebooks."""

"""How models and results show and keep themselves: names, pictures, tables in notebooks, files."""

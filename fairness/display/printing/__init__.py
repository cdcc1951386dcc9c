"""Figures for print: in the size that they will have there, with fonts that publishers take."""

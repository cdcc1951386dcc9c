"""Models with letters: texts read as expressions, assumptions on the letters, pools and systems."""

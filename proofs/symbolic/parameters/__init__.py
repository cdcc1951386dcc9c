"""For which letters a claim holds: claims about closed forms, the answer, thresholds."""

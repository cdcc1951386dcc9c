"""The sharing policies, one file per family; ``protocol.py`` says what a policy is."""

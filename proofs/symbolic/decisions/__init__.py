"""Can polynomial relations be met together? By sign tables in one letter, by points and solvers in more."""

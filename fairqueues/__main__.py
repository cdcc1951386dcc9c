"""``python -m fairqueues`` is the command ``fairqueues``."""

from __future__ import annotations

from fairqueues.commands.app import main

if __name__ == "__main__":
    main()

"""Pages with entries for the search are built each time.

When Sphinx (9.0) builds only what has changed, it reads the search index of before, but not the entries of
glossaries and ``index`` directives in it: those of pages that are not built again would be lost.
"""

from __future__ import annotations

from typing import Any


def with_entries(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Pages of the last build that have a main entry, and are still there."""
    entries = env.domains["index"].entries
    kept = env.found_docs - removed
    return [page for page in kept if any(main == "main" for _, _, _, main, _ in entries.get(page, ()))]


def setup(app: Any) -> dict[str, bool]:
    """Ask for these pages where Sphinx looks for those that are out of date."""
    app.connect("env-get-outdated", with_entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

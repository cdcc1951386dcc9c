"""Reports: everything about one result on one page."""

from __future__ import annotations

from fairqueues.report.page import page

__all__ = ["page"]

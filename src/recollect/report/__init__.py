"""Pictures and self-contained HTML pages; the only room that knows plotly, and loads it late."""

from recollect.report.page import require_page
from recollect.report.recall import write_recall_report

__all__ = ["require_page", "write_recall_report"]

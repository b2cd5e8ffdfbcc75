"""Pictures and self-contained HTML pages; the only room that knows plotly, and loads it late."""

from recollect.report.page import require_page
from recollect.report.pipeline import write_pipeline_report
from recollect.report.recall import write_recall_report

__all__ = ["require_page", "write_pipeline_report", "write_recall_report"]

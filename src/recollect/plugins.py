"""What other installed packages add to recollect, by their entry points.

========================  ===================================================================
``recollect.commands``    commands of the command line, as functions for typer
``recollect.generators``  generators that Spark's data source knows by name
``recollect.catalogue``   ``load``: the function that makes the streams of a named workload
========================  ===================================================================
"""

from importlib.metadata import EntryPoint, entry_points

PAPERS = (
    "the package recollect-papers, which is not installed:"
    " pip install recollect-papers, or in a clone of the repository pip install ./papers"
)


def added(group: str) -> dict[str, EntryPoint]:
    """Find what installed packages add to a group; nothing is loaded yet."""
    return {point.name: point for point in entry_points(group=f"recollect.{group}")}

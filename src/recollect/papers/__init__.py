"""The experiments of the five papers, runnable again: a package per paper, a file per figure.

>>> list(PAPERS)
['gdj', 'locality', 'stochastic', 'temporal', 'clock']
"""

from collections.abc import Mapping

from recollect.papers.clock import CLOCK
from recollect.papers.experiment import Experiment, Paper, Scale
from recollect.papers.gdj import GDJ
from recollect.papers.locality import LOCALITY
from recollect.papers.running import run_papers
from recollect.papers.stochastic import STOCHASTIC
from recollect.papers.temporal import TEMPORAL

__all__ = ["PAPERS", "Experiment", "Paper", "Scale", "run_papers"]

PAPERS: Mapping[str, Paper] = {
    paper.name: paper for paper in (GDJ, LOCALITY, STOCHASTIC, TEMPORAL, CLOCK)
}

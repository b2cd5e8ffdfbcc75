"""The experiments of the five papers, runnable again: a package per paper, a file per figure.

>>> list(PAPERS)
['gdj', 'locality', 'stochastic', 'temporal', 'clock']
"""

from collections.abc import Mapping

from recollect_papers.clock import CLOCK
from recollect_papers.experiment import Experiment, Paper, Scale
from recollect_papers.gdj import GDJ
from recollect_papers.locality import LOCALITY
from recollect_papers.running import run_papers
from recollect_papers.stochastic import STOCHASTIC
from recollect_papers.temporal import TEMPORAL

__all__ = ["PAPERS", "Experiment", "Paper", "Scale", "run_papers"]

PAPERS: Mapping[str, Paper] = {
    paper.name: paper for paper in (GDJ, LOCALITY, STOCHASTIC, TEMPORAL, CLOCK)
}

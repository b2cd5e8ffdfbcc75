"""On Joining and Caching Stochastic Streams."""

from recollect.papers.experiment import Paper

STOCHASTIC = Paper(
    "stochastic",
    "Xie, Yang, Chen: On Joining and Caching Stochastic Streams (SIGMOD 2005)",
    (),
)

"""Figure 10: the KL divergence against what is found."""

from recollect_papers.experiment import Experiment
from recollect_papers.figure import Figure
from recollect_papers.gdj.sampling import means, measure, points, trade

EXPERIMENT = Experiment(
    name="figure-10",
    title="Figure 10: sampling, KL divergence",
    shows="The same runs as in figure 9, with the Kullback-Leibler divergence from the exact"
    " distribution instead of the squared errors, against the recall. On each curve p is 80 % at"
    " the left end and 0 at the right; the lower and the further right, the better.",
    points=points,
    measure=measure,
    tabulate=means,
    figure=Figure("recall", "KL", "policy", "input", log="y", titles={"KL": "KL divergence"}),
    judge=lambda rows: trade(rows, "KL"),
)

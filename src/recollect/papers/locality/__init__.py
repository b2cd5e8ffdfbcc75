"""Characterizing and Exploiting Reference Locality in Data Stream Applications."""

from recollect.papers.experiment import Paper

LOCALITY = Paper(
    "locality",
    "Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream"
    " Applications",
    (),
)

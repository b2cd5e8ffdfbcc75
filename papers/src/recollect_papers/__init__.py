"""The five papers behind recollect, apart from the library: experiments, streams and theory.

:mod:`~recollect_papers.registry` has the experiments, a package per paper and a file per figure;
:mod:`~recollect_papers.catalogue` their streams by name, made by the generators of
:mod:`~recollect_papers.streams`; :mod:`~recollect_papers.theory` what follows from a forecast.
"""

"""The memory-bounded window join: ``whole`` for whole inputs, ``online`` for batch by batch.

A tuple's way: ``query`` says what is joined, ``lanes`` encode and order both streams, ``engine``
runs ``kernel`` over ``buffer`` and the policy, ``payload`` keeps the rows, ``result`` puts them
together.
"""

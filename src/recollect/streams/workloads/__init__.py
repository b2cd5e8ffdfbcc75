"""The experiments of the papers; :mod:`recollect.streams.catalogue` finds them by name."""

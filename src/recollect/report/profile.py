"""The profile report: what kind of locality a stream has, and what that means for memory."""

import html
from collections.abc import Mapping
from os import PathLike
from typing import Any

from recollect.locality import Distances, Profile
from recollect.locality.distances import QUANTILES
from recollect.report.origin import FOOTER, origin
from recollect.report.page import Chart, header, render_page, section, terms, write_page
from recollect.report.page import facts as fact_list
from recollect.report.profile_charts import (
    b_chart,
    entropy_chart,
    interarrival_chart,
    popularity_chart,
    stack_chart,
)
from recollect.report.profile_wording import headline, lead
from recollect.report.table import group_of, number_cells, row_of, table
from recollect.report.wording import percent

_TERMS = {
    "Shuffled": "The same tuples in random order: as popular as before, but without any"
    " correlation between neighbours. What it lacks is due to short-term correlation.",
    "Memory": "A memory that keeps the most recent keys finds just the tuples whose stack distance"
    " is at most its size. The dashed line is for a memory that knew the most popular keys from the"
    " start.",
    "b": "The model takes a tuple for a copy of one of the last h, or else for an independent draw;"
    " b is the share of draws. Shuffled, it should be 1.",
    "Entropy": "How much is unknown about the next tuple: by popularity alone, and for one who"
    " knows the last h tuples and the model.",
}
_NOTES = {
    "popularity": "Tuples of each key, the most popular first; both axes are logarithmic.",
    "b": "Share of the tuples that are no copies, by how far back one looks.",
    "interarrival": "Share of the tuples whose key came within the last so many tuples.",
    "stack": "Share of the tuples that find their key in a memory of so many keys.",
    "entropy": "Bits per tuple.",
}


def write_profile_report(
    profile: Profile,
    path: str | PathLike[str],
    title: str,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Write a profile, made by :func:`recollect.profile`, as one HTML page that needs no network.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recollect.locality import profile
    >>> from recollect.streams import LocalityStream
    >>> found = profile(LocalityStream(20_000, keys=500, repeat=0.5, depth=20), "key", h=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "profile.html")
    ...     write_profile_report(found, page, "Clicks")
    ...     "repeat one of the 20 tuples before them" in page.read_text(encoding="utf-8")
    True
    """
    charts = {
        "How popular keys are": popularity_chart(profile),
        "How much is left to popularity": b_chart(profile),
        "How soon a key comes again": interarrival_chart(profile),
        "What a memory would find": stack_chart(profile),
        "How much is unknown": entropy_chart(profile),
    }
    sections = [
        header(title, headline(profile), lead(profile)),
        *(section(heading, _drawn(chart), "half") for heading, chart in charts.items()),
        section("How to read this", terms(_TERMS, "terms"), "half"),
        section("Distances", _distances(profile)),
        section("The stream", fact_list(_facts(profile, facts or {}))),
        FOOTER,
    ]
    write_page(render_page(title, "\n".join(sections), list(charts.values())), path)


def _drawn(chart: Chart) -> str:
    return f'<p class="note">{html.escape(_NOTES[chart.name])}</p>\n{chart.element}'


def _distances(profile: Profile) -> str:
    """Quantiles of both distances, as they come and shuffled."""
    groups = []
    for title, what in (
        ("Tuples since the key last came", "interarrival"),
        ("Distinct keys since then, the stack distance", "stack"),
    ):
        rows = [
            _row(name, getattr(order, what), profile)
            for name, order in (("as it comes", profile.stream), ("shuffled", profile.permuted))
        ]
        groups.append(group_of(title, len(QUANTILES) + 2, rows))
    head = ["", f"within {profile.h}", *(percent(share) for share in QUANTILES)]
    note = (
        f'<p class="note">The share of all tuples within a distance of {profile.h}, and the'
        " distances that 10 %, 25 %, … of the tuples whose key came before do not exceed.</p>\n"
    )
    return note + table("Distances", head, groups)


def _row(name: str, distances: Distances, profile: Profile) -> str:
    near = distances.within(profile.h) / profile.popularity.tuples
    numbers = number_cells(*distances.quantiles().values())
    return row_of(name, f"<td>{percent(near, 1)}</td>{numbers}")


def _facts(profile: Profile, given: Mapping[str, Any]) -> dict[str, str]:
    fit = profile.popularity.zipf
    error = "" if fit is None or fit.error is None else f" ± {fit.error:.3f}"
    texts = {name: str(value) for name, value in given.items()}
    texts |= {
        "Tuples": f"{profile.popularity.tuples:,}",
        "Distinct keys": f"{profile.popularity.distinct:,}",
        "Tuples without a key": f"{profile.null_keys:,}",
        "Zipf slope": "–" if fit is None else f"{fit.slope:.3f}{error}",
        "h": str(profile.h),
    }
    return texts | origin("recollect", "numba", "numpy", "pyarrow", "plotly")

"""The profile report says what was measured, and can be drawn whatever the stream is."""

import plotly.graph_objects as go
import pyarrow as pa
import pytest

from recollect.locality import Popularity, profile
from recollect.report.pipeline_streams import streams_table
from recollect.report.profile import write_profile_report
from recollect.report.profile_charts import (
    POINTS,
    b_chart,
    entropy_chart,
    interarrival_chart,
    popularity_chart,
    stack_chart,
)
from recollect.report.profile_curves import gain_of, popular_hits
from recollect.report.profile_wording import headline, lead
from recollect.report.units import NBSP
from recollect.streams import LocalityStream, ZipfStream

CHARTS = (popularity_chart, interarrival_chart, stack_chart, b_chart, entropy_chart)
H = 20
STREAMS = {
    "local": LocalityStream(30_000, keys=2_000, exponent=0.8, repeat=0.6, depth=H, seed=1),
    "flat and local": LocalityStream(30_000, keys=2_000, exponent=0, repeat=0.6, depth=H, seed=1),
    "far": pa.table({"key": [n // 3000 * 200 + n % 200 for n in range(30_000)]}),
    "popular": ZipfStream(30_000, keys=2_000, exponent=1.0, seed=1),
    "flat": ZipfStream(30_000, keys=300, exponent=0.0, seed=1),
    "by chance": ZipfStream(500, keys=10, exponent=0.0, seed=1),
    "short": pa.table({"key": [1, 2, 1]}),
    "one key": pa.table({"key": ["<b>"] * 30}),
    "one tuple": pa.table({"key": [1]}),
    "no repeats": pa.table({"key": range(300)}),
}
WORDS = {
    "local": ("repeat one of the 20 tuples before them", "explains 60 %", " keys, most at "),
    "flat and local": ("by popularity alone it would be", "see recency and prob and lfu do not."),
    "far": (
        "Correlation reaches further than the last 20: half of the repeats come within 200 tuples",
        "can use that",
    ),
    "popular": ("Popularity is all", "count keys, and that is enough"),
    "flat": ("Popularity is all", "no policy can do much better than rand"),
    "by chance": ("Popularity is all", "copies in 14 % of the tuples, and in 10 % once"),
    "short": ("3 tuples are too few to tell correlation from chance over the last 20",),
    "one key": ("All 30 tuples have the same key",),
    "one tuple": ("One tuple says nothing",),
    "no repeats": ("No key comes twice among 300 tuples",),
}


pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def profiles():
    return {name: profile(stream, "key", h=H) for name, stream in STREAMS.items()}


@pytest.mark.parametrize("name", STREAMS)
def test_sentences_say_what_was_measured(profiles, name):
    text = f"{headline(profiles[name])} {lead(profiles[name])}".replace(NBSP, " ")
    for words in WORDS[name]:
        assert words in text


@pytest.mark.parametrize("name", STREAMS)
def test_plotly_accepts_the_figures_and_points_are_few(profiles, name):
    for draw in CHARTS:
        chart = draw(profiles[name])
        for layout in (chart.layout, chart.narrow):
            go.Figure({"data": chart.data, "layout": layout})
        assert all(len(trace["x"]) <= POINTS for trace in chart.data)


def test_curves_end_where_they_must(profiles):
    found = profiles["local"]
    repeats = found.stream.interarrival.repeats / found.popularity.tuples
    for draw in (interarrival_chart, stack_chart):
        for trace in draw(found).data:
            assert trace["y"] == sorted(trace["y"])
            assert trace["y"][-1] == pytest.approx(repeats)


def test_gain_is_that_of_counting_by_hand():
    # Keys 0 … 9 in pairs, then key 10 alone now and then: the last key is worth most.
    keys = [key for n in range(400) for key in (n % 40, n % 40, 40 + n % 2)]
    found = profile(pa.table({"key": keys}), "key", h=5)
    gain = gain_of(found)
    hits = found.stream.stack.within(gain.best)
    assert gain.recent == hits / len(keys)
    assert gain.popular == sum(found.popularity.counts[: gain.best] - 1) / len(keys)
    most = max(
        found.stream.stack.within(size) - sum(found.popularity.counts[:size] - 1)
        for size in range(1, found.popularity.distinct + 1)
    )
    assert hits - gain.popular * len(keys) == most
    assert popular_hits(Popularity.of([3, 3]), pa.array([1]).to_numpy()).tolist() == [2]


def test_the_page_is_whole_and_escapes_what_it_is_given(profiles, tmp_path):
    page = tmp_path / "page.html"
    write_profile_report(profiles["local"], page, "<i>clicks</i>", {"File": "a<b"})
    text = page.read_text(encoding="utf-8")
    for words in ("&lt;i&gt;clicks&lt;/i&gt;", "a&lt;b", "Zipf slope", "How to read this"):
        assert words in text
    for name in ("popularity", "interarrival", "stack", "b", "entropy"):
        assert f'id="{name}"' in text


def test_the_table_of_a_pipeline_has_a_row_per_stream_with_tuples(profiles):
    rows = {name: profiles[name].to_dict() for name in ("local", "one key")} | {"x": {"tuples": 0}}
    text = streams_table(rows).replace(NBSP, " ")
    assert text.count("<tr>") == 3  # the head among them
    assert "30,000" in text
    assert "–" in text  # one key has no slope
    assert streams_table({"x": {"tuples": 0}}) == ""

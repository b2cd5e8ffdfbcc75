"""``recollect profile`` prints the object of the contract, a table for people, and a page."""

import json

import pytest

from recollect.locality import profile
from recollect.streams import LocalityStream, open_sink
from tests.cli.command import call

CONTRACT = {
    *("tuples", "distinct", "zipf_slope", "entropy_iid", "entropy", "b", "h"),
    *("iad_quantiles", "iad_quantiles_permuted", "stack_quantiles"),
}
STREAM = LocalityStream(3_000, keys=200, repeat=0.5, depth=10, seed=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("profile")
    with open_sink(path / "stream.parquet", STREAM.schema) as sink:
        for batch in STREAM.batches():
            sink.write(batch)
    return path


@pytest.fixture
def command(folder, monkeypatch, capsys):
    return lambda *arguments: call(
        folder, "profile", "stream.parquet", *arguments, patch=monkeypatch, capture=capsys
    )


def test_json_is_the_contract(command):
    outcome = command("--key", "key", "--time", "time", "--h", "10", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    found = json.loads(outcome.out)
    assert set(found) >= CONTRACT
    assert found == profile(STREAM, "key", h=10).to_dict()


def test_people_get_a_table_sentences_and_a_page(command, folder):
    outcome = command("--key", "key", "--h", "10", "--html", "page.html")
    assert (outcome.code, outcome.err) == (0, "")
    for words in ("stream.parquet, by key", "3,000", "Zipf slope", "±", "bits", "one of the 10"):
        assert words in outcome.out
    assert "by popularity alone it would be" in (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--key", "kye"), "has no column 'kye'; it has 'time', 'key'"),
        (("--key", "key", "--time", "when"), "has no column 'when'"),
        (("--key", "key", "--h", "0"), "h must be a whole number from 1 to 1000, not 0"),
        (("--key", "key", "--html", "nowhere/page.html"), "there is no folder nowhere"),
        ((), "--key"),
    ],
)
def test_a_mistake_is_one_line(command, arguments, complaint):
    outcome = command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert complaint in outcome.err

"""A pipeline's configuration: every mistake is found before Spark starts, with its line and key."""

import tomllib
from pathlib import Path

import pytest

from recollect.errors import InputError
from recollect.join.window import Duration
from recollect.spark.pipeline.config import Config, ConfigError, parse_config, read_config
from recollect.toml.lines import key_lines
from tests.cli.command import call

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "pipeline.toml"
GOOD = """\
[pipeline]
name = "test"
out = "out"

[left]
format = "csv"
path = "left/*.csv"

[right]
format = "rate"

[join]
on = "key"
time = "ts"
window = "1 minute"

[sink]
trigger = "5 seconds"
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        parse_config(text, "p.toml")
    assert str(raised.value) == "\n".join(raised.value.mistakes)
    return raised.value.mistakes


def test_what_is_left_out_has_a_default():
    config = parse_config(GOOD, "p.toml")
    assert config.left.null_keys == "drop"
    assert config.left.duplicates is None
    assert (config.join.budget, config.join.policy, config.join.lateness) == (None, "clock", None)
    assert (config.sink.format, config.sink.trigger) == ("parquet", Duration(5 * 10**9))
    assert config.quality.run
    assert (config.profile.run, config.profile.h) == (True, 50)
    assert config.compare is None
    assert config.spark.config == {}


def test_the_example_is_right():
    config = read_config(EXAMPLE)
    assert config.left.options["tuples"] == "200000"
    assert config.join.budget == 400


def test_dotted_names_of_spark_need_no_quotes():
    text = GOOD + (
        '[left.options]\nkafka.bootstrap.servers = "h:9092"\n"header" = true\n'
        "[spark.config]\nspark.sql.shuffle.partitions = 4\n"
    )
    config = parse_config(text, "p.toml")
    assert config.left.options == {"kafka.bootstrap.servers": "h:9092", "header": "true"}
    assert config.spark.config == {"spark.sql.shuffle.partitions": "4"}


def test_words_of_the_join():
    text = GOOD.replace('"1 minute"', '["1 minute", "landmark:1h"]')
    text = text.replace('on = "key"', 'on = ["a=b", "c"]').replace('"ts"', '"t=s"')
    join = parse_config(text, "p.toml").join
    assert join.window == ("1 minute", "landmark:1h")
    assert (join.keys_of("left"), join.keys_of("right")) == (("a", "c"), ("b", "c"))
    assert (join.time_of("left"), join.time_of("right")) == ("t", "s")


# What is wrong: what to replace, by what, the line of the mistake and words of the message.
CASES = {
    "unknown section": ("[sink]", "[snik]", 17, "snik: unknown; did you mean sink?"),
    "unknown key": ("on =", "onn =", 13, "join.onn: unknown; did you mean on?"),
    "key like no other": ('out = "out"', 'out = "out"\nx = 1', 4, "[pipeline] has name, out, data"),
    "missing key": ('name = "test"\n', "", 1, "pipeline.name: missing; give the pipeline a name"),
    "missing section": ('[right]\nformat = "rate"\n', "", 1, "right: missing; add a section"),
    "section as value": ("[pipeline]", "live = 3\n[pipeline]", 1, "expected the section [live]"),
    "text for number": ("[sink]", 'shards = "4"\n[sink]', 17, 'a whole number, not "4"'),
    "truth for number": ("[sink]", "shards = true\n[sink]", 17, "a whole number, not true"),
    "too small": ("[sink]", "shards = 0\n[sink]", 17, "join.shards: expected 1 or more, not 0"),
    "empty text": ('"test"', '""', 2, 'pipeline.name: expected a text, not ""'),
    "list in options": ("[sink]", "[left.options]\na = [1]\n[sink]", 17, "as a, not a list"),
    "not an expression": ("[sink]", "[left.columns]\na = 1\n[sink]", 17, "left.columns: expected"),
    "unknown word": ("[right]", 'null_keys = "skip"\n[right]', 9, "'drop' or 'error' or 'keep'"),
    "duplicates": (
        "[right]",
        'duplicates = { id = "i" }\n[right]',
        9,
        "duplicates.within: missing",
    ),
    "key of keys": ('"key"', '"a="', 13, "join.on: no key columns in 'a='"),
    "half a time": ('"ts"', '"ts="', 14, "join.time: 'ts=': a side of the = is missing"),
    "window": ('"1 minute"', '"soon"', 15, "join.window: window 'soon' is not understood"),
    "window of rows": ('"1 minute"', '"9rows"', 15, "'9rows' counts rows"),
    "three windows": ('"1 minute"', "[1, 2, 3]", 15, "one window or two"),
    "budget": ("[sink]", "budget = 0\n[sink]", 17, "join.budget: budget 0 leaves no room"),
    "budget as share": ("[sink]", 'budget = "10%"\n[sink]', 17, "is a share of what the exact"),
    "policy": ("[sink]", 'policy = "colck"\n[sink]', 17, "did you mean clock?"),
    "lateness": ("[sink]", 'lateness = "unlimited"\n[sink]', 17, "join.lateness: 'unlimited'"),
    "compared policy": (
        "[sink]",
        '[compare]\npolicies = ["lru", "colck"]\n[sink]',
        18,
        "did you mean clock?",
    ),
    "compared bytes": (
        "[sink]",
        '[compare]\nbudgets = ["10%", "2MB"]\n[sink]',
        18,
        "'2MB' is in bytes; give",
    ),
    "no budgets": ("[sink]", "[compare]\nbudgets = []\n[sink]", 18, "a list of budgets"),
    "slice": ("[sink]", '[quality]\nslice = "9rows"\n[sink]', 18, "quality.slice: '9rows'"),
    "port": ("[sink]", "[live]\nprometheus_port = 99999\n[sink]", 18, "1 to 65535, not 99999"),
    "setting": ("[sink]", "[spark]\nconfig = { a.b = 1 }\n[sink]", 18, "'a.b' is not a setting"),
    "trigger": ('"5 seconds"', '"often"', 18, "sink.trigger: 'often' is not a duration"),
    "no path": ('path = "left/*.csv"\n', "", 5, "left.path: missing; say where the csv files are"),
    "no end": (
        'trigger = "5 seconds"',
        "",
        10,
        "right.format: 'rate' has no end; set sink.trigger",
    ),
    "no need": ('trigger = "5 seconds"', 'duration = "9s"', 18, "ends by itself"),
    "no key": ("[right]", 'select = ["key"]\n[right]', 9, "leaves out 'ts', which the join needs"),
    "one way": ("[sink]", '[sink]\nformat = "kafka"', 18, "set quality.run = false"),
    "replay": ('"rate"', '"recollect"\noptions = { generator = "zip" }', 11, "right.options: "),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_named_with_its_line(case):
    old, new, line, words = CASES[case]
    assert GOOD.count(old) == 1
    found = mistakes(GOOD.replace(old, new))
    assert any(text.startswith(f"p.toml:{line}: ") and words in text for text in found), found


def test_all_mistakes_are_listed_in_the_order_of_their_lines():
    text = GOOD.replace('"csv"', "3").replace('"1 minute"', '"-1s"').replace('name = "test"\n', "")
    assert [text.split(": ")[:2] for text in mistakes(text)] == [
        ["p.toml:1", "pipeline.name"],
        ["p.toml:5", "left.format"],
        ["p.toml:14", "join.window"],
    ]


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = = 2\n", 2), ('[a]\n\nb = "x\n', 3), ("a = 1\n\nb = [1,\n\n", 3)]
)
def test_mistakes_in_the_syntax_have_a_line_too(text, line):
    assert mistakes(text)[0].startswith(f"p.toml:{line}: ")


def test_a_mistake_that_shows_later_has_its_line():
    config = parse_config(GOOD, "p.toml")
    assert isinstance(config, Config)
    error = config.mistake("left", "path", message="nothing there")
    assert str(error) == "p.toml:7: left.path: nothing there"


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.toml cannot be read: No such file"):
        read_config(tmp_path / "nowhere.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"odd\.toml cannot be read"):
        read_config(tmp_path / "odd.toml")


def test_the_command_prints_a_line_per_mistake(tmp_path, monkeypatch, capfd):
    (tmp_path / "p.toml").write_text(GOOD.replace("on =", "onn ="))
    outcome = call(tmp_path, "pipeline", "p.toml", patch=monkeypatch, capture=capfd)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines() == [
        "recollect: p.toml:12: join.on: missing; name the key columns",
        "recollect: p.toml:13: join.onn: unknown; did you mean on?",
    ]
    assert not (tmp_path / "out").exists()


LINES = '''
top = 1
[a.b]           # a comment
c.d = [
  1,  # [not.a.table]
  2,
]

"x.y" = """
[not.a.table]
z = 1
"""
[a]
inner = { p = 1, q.r = "}" }
[[many]]
n = 1
[[many]]
n = 2
'''


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_of_keys(ending):
    assert key_lines(LINES.replace("\n", ending)) == {
        ("top",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c"): 4,
        ("a", "b", "c", "d"): 4,
        ("a", "b", "x.y"): 9,
        ("a", "inner"): 14,
        ("a", "inner", "p"): 14,
        ("a", "inner", "q"): 14,
        ("a", "inner", "q", "r"): 14,
        ("many",): 15,
        ("many", "n"): 16,
    }


def test_every_key_of_the_example_is_found():
    text = EXAMPLE.read_text()
    lines = key_lines(text)
    for section, table in tomllib.loads(text).items():
        for key in table:
            line = text.splitlines()[lines[section, key] - 1]
            assert line.lstrip("[").startswith((key, f"{section}.{key}"))

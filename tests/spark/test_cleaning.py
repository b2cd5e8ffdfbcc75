"""Types, NULL keys and duplicates of a source, on a stream; and whom Spark's complaints blame."""

import pytest

from recollect.errors import InputError
from recollect.spark.pipeline.config import ConfigError, parse_config
from recollect.spark.pipeline.ingest import clean, open_stream, record_of
from recollect.spark.pipeline.queries import wait

pytestmark = pytest.mark.spark

ROWS = """\
id,symbol,price,ts
1,a,1.5,2026-01-01 10:00:00
2,,2.5,2026-01-01 10:00:01
1,a,1.5,2026-01-01 10:00:02
3,b,oops,2026-01-01 10:00:03
4,c,4.5,
5,a,5.5,2026-01-01 10:00:05
"""


@pytest.fixture
def config_of(tmp_path):
    """Make a configuration whose left source has these further keys."""
    (tmp_path / "rows.csv").write_text(ROWS)

    def make(keys: str, options: str = "header = true", path: str = "rows.csv"):
        text = (
            f'[pipeline]\nname = "t"\nout = "{tmp_path}/out"\n'
            f'[join]\non = "symbol"\ntime = "ts"\nwindow = "1 minute"\n'
            f'[right]\nformat = "csv"\npath = "{tmp_path}/right"\n'
            f'[left]\nformat = "csv"\npath = "{tmp_path}/{path}"\n'
            f"options = {{ {options} }}\n{keys}\n"
        )
        return parse_config(text, "p.toml")

    return make


def ingested(spark, config, name):
    """Run the left source through cleaning; return its query and rows."""
    frame = clean(open_stream(spark, config, "left"), config, "left")
    writer = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True)
    query = writer.start()
    wait({"ingest": query})
    return query, spark.table(name).orderBy("ts").collect()


def test_rows_are_typed_and_cleaned_and_what_was_removed_is_counted(spark, config_of):
    config = config_of(
        'columns = { ts = "CAST(ts AS TIMESTAMP)", price = "TRY_CAST(price AS DOUBLE)",'
        ' cents = "CAST(price * 100 AS INT)" }\n'
        'select = ["symbol", "ts", "id", "cents"]\n'
        'duplicates = { id = "id", within = "10 minutes" }'
    )
    query, rows = ingested(spark, config, "cleaned")
    assert [(row.symbol, row.id, row.cents) for row in rows] == [
        ("a", "1", 150), ("b", "3", None), ("a", "5", 550),
    ]  # fmt: skip
    record = record_of("left", query.recentProgress[0])
    counts = {name: record[name] for name in ("read", "null_keys", "late", "duplicates", "kept")}
    assert counts == {"read": 6, "null_keys": 2, "late": 0, "duplicates": 1, "kept": 3}


def test_null_keys_can_be_kept(spark, config_of):
    config = config_of('columns.ts = "CAST(ts AS TIMESTAMP)"\nnull_keys = "keep"')
    query, rows = ingested(spark, config, "kept")
    assert len(rows) == 6
    record = record_of("left", query.recentProgress[0])
    assert (record["null_keys"], record["duplicates"], record["kept"]) == (2, 0, 6)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            'columns.ts = "CAST(ts AS TIMESTAMP)"\nnull_keys = "error"',
            'has no key or no time, only {"ts":"2026-01-01T10:00:01.000Z"}; correct the row',
        ),
        (
            'columns = { ts = "CAST(ts AS TIMESTAMP)", price = "CAST(price AS DOUBLE)" }',
            'The value \'oops\' of the type "STRING" cannot be cast to "DOUBLE"',
        ),
    ],
)
def test_a_bad_row_is_named_in_one_line(spark, config_of, keys, message):
    with pytest.raises(InputError) as raised:
        ingested(spark, config_of(keys), "bad")
    assert str(raised.value).startswith("ingest failed: ")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("keys", "blamed", "words"),
    [
        ("", "join.time", "'ts' of the left source is of type string, not a time stamp"),
        ('columns.ts = "CAST(t AS DATE)"', "left.columns.ts", "`t` cannot be resolved"),
        ('columns.ts = "CAST(ts"', "left.columns.ts", "Syntax error"),
        ('select = ["symbol", "ts", "x"]', "left.select", "`x` cannot be resolved"),
        ('schema = "ts TIMESTAMP"', "join.on", "no column 'symbol'; its columns are 'ts'"),
        ('schema = "ts TIMES"', "left.schema", '"TIMES"'),
        ('duplicates = { id = "no", within = "1s" }\ncolumns.ts = "CAST(ts AS TIMESTAMP)"',
         "left.duplicates.id", "no"),
    ],
)  # fmt: skip
def test_what_spark_refuses_is_blamed_on_a_key(spark, config_of, keys, blamed, words):
    config = config_of(keys)
    with pytest.raises(ConfigError) as raised:
        clean(open_stream(spark, config, "left"), config, "left")
    (mistake,) = raised.value.mistakes
    place, key, message = mistake.split(": ", 2)
    assert key == blamed
    assert words in message
    assert place.startswith("p.toml:")


def test_a_source_that_is_not_there(spark, config_of):
    config = config_of("", path="nowhere")
    with pytest.raises(ConfigError, match=r"left\.path: Path does not exist"):
        open_stream(spark, config, "left")


def test_an_unknown_format(spark):
    config = parse_config(
        '[pipeline]\nname = "t"\nout = "o"\n[join]\non = "k"\ntime = "t"\nwindow = 1\n'
        '[left]\nformat = "cvs"\npath = "x"\n[right]\nformat = "cvs"\n',
        "p.toml",
    )
    with pytest.raises(ConfigError, match=r"left\.format: .*cvs"):
        open_stream(spark, config, "left")

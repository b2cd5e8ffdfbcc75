"""Keys and payload of every type, and columns named as Spark's own join names them."""

from collections import Counter
from functools import reduce

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from recollect.errors import BudgetError, InputError, WindowError
from recollect.spark.bounded_join import bounded_join
from recollect.spark.exact_join import exact_join

pytestmark = pytest.mark.spark

NUMBER = {
    "short = int": ("smallint(n)", "n"),
    "int = long": ("n", "bigint(n)"),
    "int = double": ("n", "double(n)"),
    "long = double": ("9007199254740993 + n", "double(9007199254740993 + n)"),
    "float = double": ("float(n / 4)", "n / 4D"),
    "decimal": ("cast(n as decimal(10, 2))", "cast(n as decimal(20, 4))"),
    "wide decimal": ("cast(n as decimal(38, 10))",) * 2,
    "nan and zero": (
        "case n when 0 then double('nan') when 1 then -0.0D else double(n) end",
        "case n when 0 then double('nan') when 1 then 0.0D else double(n) end",
    ),
    "float nan": (
        "case n when 0 then float('nan') when 1 then float(-0.0D) else float(n) end",
        "case n when 0 then float('nan') when 1 then float(0) else float(n) end",
    ),
    "boolean": ("n < 2",) * 2,
    "null": ("if(n < 3, null, n)",) * 2,
}
OTHER = {
    "string": ("concat('ä', n)",) * 2,
    "empty string": ("if(n = 0, '', string(n))",) * 2,
    "binary": ("if(n = 0, binary(''), unhex(lpad(n, 4, '0')))",) * 2,
    "date": ("date_add(date'1969-12-30', n)",) * 2,
    "timestamp": ("timestamp_seconds(n - 3)",) * 2,
    "timestamp_ntz": ("timestamp_ntz'2024-03-10 02:30:00' + make_dt_interval(0, 0, 0, n)",) * 2,
    "interval": ("make_dt_interval(n)",) * 2,
}
NESTED = {
    "struct": ("named_struct('a', n % 3, 'b', if(n % 2 = 0, 'x', null))",) * 2,
    "struct of int = of long": ("named_struct('a', n)", "named_struct('a', bigint(n))"),
    "struct of time": ("named_struct('t', timestamp_seconds(n))",) * 2,
    "struct of nan and zero": (
        "named_struct('a', double('nan'), 'b', -0.0D, 'n', n)",
        "named_struct('a', double('nan'), 'b', 0.0D, 'n', n)",
    ),
    "struct of no time of Python's": (
        "named_struct('t', timestamp'0001-01-01 00:00:00' - make_dt_interval(n + 2))",
    )
    * 2,
    "struct in struct": ("named_struct('s', named_struct('d', cast(n as decimal(9, 3))))",) * 2,
    "array": ("array(n % 3, null)",) * 2,
    "array of double": ("array(-0.0D, double(n))", "array(0.0D, double(n))"),
    "arrays of some lengths": ("sequence(0, n)",) * 2,
    "array of struct": ("array(named_struct('s', string(n)))",) * 2,
}
PAYLOAD = {
    "struct": "named_struct('a', n, 'b', named_struct('c', null, 'd', array(n, null)))",
    "no_struct": "cast(null as struct<a: int, b: array<string>>)",
    "array": "if(n = 1, null, array(array(n), null))",
    "map": "map('a', n, 'b', null)",
    "map_of_time": "map(n, array(map('x', timestamp_seconds(n))))",
    "decimal": "cast(n / 7 as decimal(38, 18))",
    "binary": "if(n = 2, null, unhex('00ff'))",
    "date": "date'1600-02-29'",
    "time": "timestamp'1700-01-01 12:34:56.789012'",
    "gap": "timestamp_ntz'2024-03-10 02:30:00'",  # a time that New York did not have
    "times": "named_struct('x', timestamp'2024-11-03 01:30:00', 'y', array(timestamp_seconds(n)))",
    "nothing": "null",
    "variant": """parse_json('{"a": [1, null]}')""",
    "interval": "make_dt_interval(n, 1, 2, 3.5)",
    "char": "cast('a' as char(4))",
    "text": "if(n = 3, null, concat('€𝄞', repeat('x', n * 100)))",
    "nan": "double('nan')",
    "lcase": "'a' collate utf8_lcase",
    "true": "n > 1",
    "byte": "tinyint(n)",
}


@pytest.fixture(scope="module")
def numbered(spark):
    return spark.range(0, 12, 1, 1).selectExpr("int(id % 6) as n", "int(id) as i")


def keyed(numbered: DataFrame, keys: tuple[str, str]) -> tuple[DataFrame, DataFrame]:
    left, right = keys
    return (
        numbered.selectExpr("i as l", f"{left} as k", "i as t"),
        numbered.selectExpr("i as r", "i as t", f"{right} as k"),
    )


def together(frames: list[DataFrame]) -> Counter:
    """The rows of all of them in one job: starting one takes longer than running it."""
    return Counter(map(tuple, reduce(DataFrame.union, frames).collect()))


@pytest.mark.thorough
@pytest.mark.parametrize("kinds", [NUMBER, OTHER, NESTED], ids=["number", "other", "nested"])
def test_keys_are_equal_as_spark_sees_it(numbered, kinds):
    bounded, exact = [], []
    for number, (title, keys) in enumerate(kinds.items()):
        words = {"on": "k", "time": "t", "window": 7}
        left, right = keyed(numbered, keys)
        rows = bounded_join(left, right, shards=1 + number % 2, name=title, **words)
        columns = [F.lit(title), "l", "r"]
        bounded.append(rows.select(columns))
        exact.append(exact_join(left, right, **words).select(columns))
    found, wanted = together(bounded), together(exact)
    assert {title for title, *_ in wanted} == set(kinds)
    assert found == wanted


def test_several_key_columns(numbered):
    sides = [
        numbered.selectExpr("i as id", "n % 2 as a", "if(n = 3, null, string(n % 3)) as b", "i"),
        numbered.selectExpr("i", "bigint(n % 2) as a", "string(n % 3) as c", "n as id"),
    ]
    words = {"on": ["a", "b=c"], "time": "i", "window": 5}
    exact = exact_join(*sides, **words)
    bounded = bounded_join(*sides, shards=3, **words)
    assert Counter(bounded.collect()) == Counter(exact.collect()) != {}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_payload_of_any_type_comes_out_as_it_went_in(spark, numbered, zone):
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        payload = [f"{value} as {name}" for name, value in PAYLOAD.items()]
        left = numbered.selectExpr("n as k", "timestamp_seconds(i) as t", *payload)
        right = numbered.selectExpr(*payload, "timestamp_seconds(i) as t", "n as k")
        words = {"on": "k", "time": "t", "window": "7s"}
        bounded = bounded_join(left, right, shards=2, **words)
        exact = exact_join(left, right, **words)
        assert bounded.schema == exact.schema
        # NaN is not equal to itself, but looks like itself.
        rows = [Counter(map(repr, frame.collect())) for frame in (bounded, exact)]
        assert rows[0] == rows[1] != {}
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_columns_are_those_of_sparks_own_join(spark):
    left = spark.sql("""
        select 1 as a, 2L as b, 10 as t, 'l' as x, 'dots' as `x.y`, 'tick' as `q``q`, 1 as left0""")
    right = spark.sql("""
        select 'r' as x, 1L as a, 2 as B, 11 as t, named_struct('a', 1) as s, 1 as left0""")
    for on, sparks in (
        ("a", left.join(right, ["a"])),
        ("b, a", left.join(right, ["b", "a"])),
        (["a", ("b", "b")], left.join(right, ["a", "b"])),
        ("a=a,b=B", left.join(right, [left.a == right.a, left.b == right.B])),
        ("a=B", left.join(right, left.a == right.B)),
    ):
        ours = bounded_join(left, right, on=on, time="t", window=1)
        assert ours.dtypes == sparks.dtypes
        nullable = [[field.nullable for field in frame.schema] for frame in (ours, sparks)]
        assert nullable[0] == nullable[1]
    ours = bounded_join(left, right, on="b,a", time="t", window=1)
    assert ours.collect() == left.join(right, ["b", "a"]).collect() != []


def test_mistakes_are_refused_at_once(spark):
    table = spark.sql("""
        select 1 as k, 'x' collate utf8_lcase as text, 2 as t, map(1, 2) as m,
        array(map(1, 2)) as am, 1 as twice, 2 as twice, timestamp_seconds(1) as ts,
        named_struct('a', 1) as one, named_struct('b', 1) as other""")
    flow = spark.readStream.format("rate").load().toDF("ts", "k")
    usual = {"left": table, "right": table, "on": "k", "time": "t", "window": 1}
    for error, says, change in (
        (InputError, "no column 'kee'; its columns are 'k', 'text'", {"on": "kee"}),
        (InputError, "2 columns called 'twice'", {"on": "twice"}),
        (InputError, "not expressions", {"on": table.k}),
        (InputError, "names the same pair of columns twice", {"on": "k,k"}),
        (InputError, "map<int,int>, which Spark cannot compare", {"on": "m"}),
        (InputError, "cannot compare", {"on": "am"}),
        (InputError, "collation UTF8_LCASE", {"on": "text"}),
        (InputError, "k = ts cannot be compared", {"on": "k=ts"}),
        (InputError, "one = other cannot be compared", {"on": "one=other"}),
        (InputError, "int and timestamp; cast one", {"time": "t=ts"}),
        (InputError, "how='left'", {"how": "left"}),
        (WindowError, "counts arrivals", {"window": "500rows"}),
        (WindowError, "not a number of time units", {"lateness": "landmark:5"}),
        (InputError, "shards=0", {"shards": 0}),
        (BudgetError, "share", {"budget": "10%"}),
        (BudgetError, "10 cannot be divided among 11 shards", {"budget": 10, "shards": 11}),
        (BudgetError, "-1", {"budget": -1}),
        (BudgetError, "less than a megabyte for each of 3 shards", {"budget": "2MB", "shards": 3}),
        (InputError, "left DataFrame is a stream and the right one a table", {"left": flow}),
        (
            InputError,
            "one of the streams has a watermark",
            {"left": flow, "right": flow.withWatermark("ts", "1 second"), "time": "ts"},
        ),
    ):
        with pytest.raises(error, match=says):
            bounded_join(**(usual | change))

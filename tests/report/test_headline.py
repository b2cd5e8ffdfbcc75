"""The headline says what was learnt, in correct sentences, whatever was compared."""

import pytest

from recollect.report.comparison import comparison_from
from recollect.report.wording import headline, standing
from tests.report.samples import comparison

FOUR = "21,995,622 exact results"


def said(recalls=None, budgets=("5%", "10%", "20%"), what=headline, rows=None, **more):
    given = comparison(recalls, budgets, **more) if recalls else comparison(**more)
    for row in given["rows"]:
        row.update((rows or {}).get(row["budget"], {}))
    return what(comparison_from(given)).replace("\u00a0", " ")


CASES = {
    "twelve policies": (
        {},
        f"With 10 % of the memory, gdj keeps 73 % of the {FOUR};"
        " forgetting the oldest (fifo) keeps 10 %.",
    ),
    "no results at all": (
        {"exact_results": 0},
        "The exact join finds no results in these inputs, so there was nothing to lose.",
    ),
    "one policy, one budget": (
        {"recalls": {"gdj": (0.731,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, gdj keeps 73 % of the {FOUR}.",
    ),
    "one policy": (
        {"recalls": {"gdj": (0.4, 0.6, 0.9)}},
        f"gdj keeps 40 % of the {FOUR} with 5 % of the memory and 90 % with 20 %.",
    ),
    "one policy that needs no more memory": (
        {"recalls": {"gdj": (0.4, 0.4, 0.4)}},
        f"gdj keeps 40 % of the {FOUR} with 5 % of the memory,"
        " and as many with 20 % of the memory.",
    ),
    "one policy, all at the end": (
        {"recalls": {"gdj": (0.0, 0.6, 1.0)}},
        f"gdj keeps none of the {FOUR} with 5 % of the memory and all with 20 %.",
    ),
    "one policy loses nothing": (
        {"recalls": {"gdj": (1.0,)}, "budgets": ("10%",)},
        f"gdj keeps all {FOUR} with 10 % of the memory.",
    ),
    "two policies lose nothing": (
        {"recalls": {"gdj": (1.0, 1.0, 1.0), "fifo": (1.0, 1.0, 1.0)}},
        f"Both policies keep all {FOUR} at every budget, even with 5 % of the memory.",
    ),
    "three policies lose nothing": (
        {"recalls": {"gdj": (1.0,), "fifo": (1.0,), "lru": (1.0,)}, "budgets": ("10%",)},
        f"All 3 policies keep all {FOUR} with 10 % of the memory.",
    ),
    "all the same in the middle": (
        {"recalls": {"gdj": (0.3, 0.5, 0.6), "lru": (0.2, 0.5, 0.6), "age": (0.2, 0.5, 0.6)}},
        f"With 10 % of the memory, all 3 policies keep 50 % of the {FOUR}.",
    ),
    "two share the first place": (
        {"recalls": {"gdj": (0.5,), "prob": (0.5,), "lru": (0.2,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, gdj and prob keep 50 % of the {FOUR};"
        " the weakest, lru, keeps 20 %.",
    ),
    "two policies": (
        {"recalls": {"gdj": (0.5,), "lru": (0.2,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, gdj keeps 50 % of the {FOUR}; lru keeps 20 %.",
    ),
    "the oldest is the right one": (
        {"recalls": {"fifo": (0.5,), "lru": (0.2,), "age": (0.3,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, fifo keeps 50 % of the {FOUR}; the weakest, lru, keeps 20 %.",
    ),
    "close": (
        {"recalls": {"gdj": (0.7338,), "rand": (0.7312,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, gdj keeps 73.4 % of the {FOUR};"
        " forgetting at random (rand) keeps 73.1 %.",
    ),
    "almost all and almost nothing": (
        {"recalls": {"gdj": (0.9999,), "fifo": (0.0001,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, gdj keeps 99.99 % of the {FOUR};"
        " forgetting the oldest (fifo) keeps 0.01 %.",
    ),
    "nothing": (
        {"recalls": {"gdj": (0.0,), "fifo": (0.0,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, both policies keep none of the {FOUR}.",
    ),
    "a single result": (
        {"recalls": {"gdj": (1.0,), "fifo": (0.0,)}, "budgets": ("10%",), "exact_results": 1},
        "With 10 % of the memory, gdj keeps the only exact result;"
        " forgetting the oldest (fifo) keeps none.",
    ),
    "tuples": (
        {
            "recalls": {"gdj": (0.5,), "fifo": (0.2,)},
            "budgets": ("1",),
            "rows": {"1": {"budget_tuples": 1}},
        },
        f"With room for 1 tuple, gdj keeps 50 % of the {FOUR};"
        " forgetting the oldest (fifo) keeps 20 %.",
    ),
    "bytes": (
        {
            "recalls": {"gdj": (0.5,)},
            "budgets": ("64MB",),
            "rows": {"64MB": {"budget_tuples": None, "budget_bytes": 64_000_000}},
        },
        f"With 64 MB of memory, gdj keeps 50 % of the {FOUR}.",
    ),
    "the optimum is no policy": (
        {"recalls": {"opt": (0.9,), "gdj": (0.5,), "fifo": (0.2,)}, "budgets": ("10%",)},
        f"With 10 % of the memory, gdj keeps 50 % of the {FOUR};"
        " forgetting the oldest (fifo) keeps 20 %.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_headline(case):
    given, expected = CASES[case]
    assert said(**given) == expected


@pytest.mark.parametrize(
    ("recalls", "expected"),
    [
        ({"gdj": (0.3, 0.5, 0.6), "fifo": (0.1, 0.2, 0.3)}, "gdj is best at all 3 budgets."),
        (
            {"gdj": (0.3, 0.5, 0.6), "prob": (0.1, 0.2, 0.7)},
            "Best are gdj at 5 % and 10 %; prob at 20 %.",
        ),
        (
            {"gdj": (0.3, 0.5, 0.6), "prob": (0.3, 0.5, 0.6), "lru": (0.1, 0.1, 0.1)},
            "gdj and prob are best at all 3 budgets.",
        ),
        ({"gdj": (1.0, 1.0, 1.0), "fifo": (1.0, 1.0, 1.0)}, ""),
        ({"gdj": (0.3, 0.5, 0.6)}, ""),
        (
            {"gdj": (0.3, 0.5, 0.6), "opt": (0.8, 0.9, 1.0)},
            "With 10 % of the memory, 90 % is the best that was possible (opt);"
            " gdj finds 44 % less.",
        ),
    ],
)
def test_standing(recalls, expected):
    assert said(recalls, what=standing) == expected

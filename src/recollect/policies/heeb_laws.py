"""The laws of streams for HEEB: fitted to what came last, and made into tables of scores.

A column is a stream, or in a workload of many joins the keys of a stream in one of them. Its law is
given, or fitted to its last values when there are enough of them, and again as it goes on. A score
is looked up in the table that belongs to the law (:mod:`~recollect.policies.heeb_tables`): by the
distance from where the column is now, or by its last value and the tuple's.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.errors import InputError
from recollect.forecast import Forecast, Survival, Trend, Walk, forecast_class, judge
from recollect.policies.base import Array
from recollect.policies.heeb_tables import LINE, SURFACE, UNKNOWN, Table, smoothed, table_of
from recollect.policies.search.by_value import first_from

LAWS = ("stationary", "trend", "walk", "ar1", "markov")
"""From the simplest to the richest."""
REMEMBERED = 4096
"""How many of the last values of a column a law is fitted to."""
JUDGED = 1024
"""How many of them laws are compared on."""
RARELY = 65_536
"""After so many arrivals the kind of law is chosen again, however long the stream is."""
FURTHEST = 2**53
"""Values beyond are taken as this."""

KIND, ARRIVALS, NEXT_FIT, NEXT_CHOICE, CHOSEN, LOW, WIDTH, TURNS, AT = range(9)
SLOPE, INTERCEPT, UNIT, DRIFT, SCALE, HORIZON = range(6)


class Laws(NamedTuple):
    """The laws of some columns."""

    tally: Array
    """By column: the KIND of its table, how many ARRIVALS it had, when the NEXT_FIT and the
    NEXT_CHOICE of a law are due, which was CHOSEN; the LOW end and WIDTH of its table, how many
    TURNS a line of it has, where in it the column is AT now."""
    law: Array
    """By column: SLOPE and INTERCEPT of its trend, UNIT: places of its curve per whole distance,
    DRIFT: places that it moves per step, the SCALE of survival, negative if that is fixed, and its
    HORIZON."""
    scores: Array
    """By column: its table."""
    states: Array
    """By column: what the lines and columns of a surface stand for."""
    turns: Array
    """By column: where its curve turns, a line per first place."""
    recent: Array
    """By column: its last values, each at the place of its number."""
    most_cells: Array
    """The largest table that there is memory for."""


def new_laws(columns: int, first_fit: int, cells: int) -> Laws:
    """Make room for the laws of some columns, none of which is known yet."""
    tally = np.zeros((columns, 9), np.int64)
    tally[:, NEXT_FIT] = first_fit
    return Laws(
        tally=tally,
        law=np.zeros((columns, 6)),
        scores=np.zeros((columns, 2)),
        states=np.zeros((columns, 2), np.int64),
        turns=np.zeros((columns, 2), np.int64),
        recent=np.zeros((columns, min(REMEMBERED, cells)), np.int64),
        most_cells=np.array([cells]),
    )


# -- in the join ---------------------------------------------------------------------------------


@inlined
def is_due(laws, column):
    """Whether it is time to fit a law."""
    return laws.tally[column, ARRIVALS] >= laws.tally[column, NEXT_FIT]


@inlined
def learn(laws, column, value):
    """Hear of an arrival."""
    tally = laws.tally[column]
    laws.recent[column, tally[ARRIVALS] % laws.recent.shape[1]] = value
    tally[ARRIVALS] += 1
    _move(laws, column, value)


@inlined
def _move(laws, column, value):
    """Set where a column is in its table after its latest value."""
    tally, law = laws.tally[column], laws.law[column]
    if tally[KIND] == SURFACE:
        # A value that is not a state is taken as the next one that is.
        place = first_from(laws.states[column], tally[WIDTH], value)
        tally[AT] = min(place, tally[WIDTH] - 1) * tally[WIDTH]
    elif tally[KIND] != UNKNOWN:
        position = np.float64(min(max(value, -FURTHEST), FURTHEST))
        if tally[KIND] == LINE:
            position = law[SLOPE] * np.float64(tally[ARRIVALS] - 1) + law[INTERCEPT]
        tally[AT] = np.int64(np.floor(0.5 - position * law[UNIT])) - tally[LOW]


@inlined
def _place_of(laws, column, value):
    """Where a value is in the table of a column."""
    tally = laws.tally[column]
    near = min(max(value, -FURTHEST), FURTHEST)
    if tally[KIND] != SURFACE:
        return near * np.int64(laws.law[column, UNIT]) + tally[AT]
    states = laws.states[column]
    place = first_from(states, tally[WIDTH], near)
    if place == tally[WIDTH]:
        return place + (near - states[place - 1])
    if place == 0:
        return near - states[0]
    return place if states[place] == near else -1


@inlined
def _score_at(laws, column, place):
    tally = laws.tally[column]
    if place < 0:
        return np.float64(place)
    if place >= tally[WIDTH]:
        return np.float64(tally[WIDTH] - 1 - place)
    return laws.scores[column, place + (tally[AT] if tally[KIND] == SURFACE else 0)]


@inlined
def score_of(laws, column, value, ahead):
    """The score of a tuple with a value, whose window ends after so many steps of a column."""
    law = laws.law[column]
    place = _place_of(laws, column, value)
    score = _score_at(laws, column, place)
    if ahead < law[HORIZON]:
        moved = np.int64(np.floor(law[DRIFT] * ahead + 0.5))
        later = _score_at(laws, column, place - moved)
        if later > 0:
            scale = law[SCALE]
            score -= later * (math.exp(-ahead / scale) if scale > 0 else 1 + ahead / scale)
    return score


@inlined
def steps_buffered(scale, ahead):
    """For how many steps a tuple is buffered whose window ends after so many: the sum of L(Δ)."""
    if scale < 0:
        return min(-scale, ahead)
    return (1 - math.exp(-ahead / scale)) / math.expm1(1 / scale)


# -- between two calls of the compiled loop ------------------------------------------------------


def with_survival(laws: Laws, column: int, survival: Survival) -> None:
    """Note how likely tuples are buffered still, in steps of a column."""
    scale = survival.scale if survival.kind == "exp" else -survival.scale
    laws.law[column, [SCALE, HORIZON]] = scale, survival.horizon


def with_table(laws: Laws, column: int, table: Table, survival: Survival) -> Laws:
    """Give a column another table."""
    tally = laws.tally[column]
    width = len(table.states) if table.kind == SURFACE else len(table.scores)
    drift = table.slope * table.per_unit if survival.kind == "exp" else 0.0
    turns = table.turns()
    tally[[KIND, LOW, WIDTH, TURNS]] = table.kind, table.low, width, turns.shape[1]
    laws.law[column, :SCALE] = table.slope, table.intercept, table.per_unit, drift
    with_survival(laws, column, survival)
    laws = laws._replace(
        scores=_with_line(laws.scores, column, table.scores),
        states=_with_line(laws.states, column, table.states),
        turns=_with_line(laws.turns, column, turns.ravel()),
    )
    _move(laws, column, laws.recent[column, (tally[ARRIVALS] - 1) % laws.recent.shape[1]])
    return laws


def _with_line(lines: Array, number: int, line: Array) -> Array:
    """Replace the beginning of a line of an array, which becomes wider if it must."""
    wide = np.zeros((len(lines), max(lines.shape[1], len(line))), lines.dtype)
    wide[:, : lines.shape[1]] = lines
    wide[number, : len(line)] = line
    return wide


def fitted(
    laws: Laws, column: int, forecast: str, survival: Survival, caching: bool = False
) -> Forecast:
    """Fit a law to the last values of a column.

    Parameters
    ----------
    laws
        What is known of the column.
    column
        Which one.
    forecast
        The kind of law, or ``"auto"`` for the one that predicts best.
    survival
        How likely tuples are buffered still.
    caching
        Whether it is for a cache.
    """
    tally, recent = laws.tally[column], laws.recent[column]
    arrivals = int(tally[ARRIVALS])
    values = np.roll(recent, -arrivals) if arrivals > len(recent) else recent[:arrivals]
    name = forecast
    if name == "auto":
        if arrivals >= tally[NEXT_CHOICE]:
            tally[NEXT_CHOICE] = arrivals + min(arrivals, RARELY)
            cells = int(laws.most_cells[0])
            tally[CHOSEN] = _choice(values[-JUDGED:], survival, cells, caching)
        name = LAWS[tally[CHOSEN]]
    law: Any = forecast_class(name).fit(values)
    if isinstance(law, Trend):  # it was fitted as if the stream began with these values
        start = law.slope * (arrivals - len(values))
        return Trend(law.slope, law.intercept - start, smoothed(law.noise, len(values)))
    if isinstance(law, Walk):
        return Walk(smoothed(law.steps, len(values)))
    return law


def _choice(values: Array, survival: Survival, most_cells: int, caching: bool) -> int:
    """Find the simplest law that predicts about as well as the best: its number among LAWS.

    The likelihood of a law is known to about one over the root of the number of values.
    """
    about_as_well: list[int] = []
    enough = -np.inf
    margin = 1 / np.sqrt(len(values))
    for one in judge(values, LAWS):
        if one.forecast is None or one.log_likelihood < enough:
            break
        number = LAWS.index(one.name)
        if number == 0 or _has_table(one.forecast, survival, most_cells, caching):
            enough = max(enough, one.log_likelihood - margin)
            about_as_well.append(number)
    return min(about_as_well)


def _has_table(law: Forecast, survival: Survival, most_cells: int, caching: bool) -> bool:
    try:
        table_of(law, survival, most_cells, caching)
    except InputError:
        return False
    return True

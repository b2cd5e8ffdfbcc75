"""What a profile says, in sentences."""

from recollect.locality import Order, Profile
from recollect.policies import policy_names
from recollect.report.profile_curves import gain_of
from recollect.report.units import NBSP
from recollect.report.wording import listed, percent, percents

RECENT = ("lru", "clock", "gdj")
MODEL = ("lba", "elba")
"""These see the last h tuples through the locality model."""
POPULAR = ("prob", "lfu")
FEW = 0.05
"""Fewer copies than this share of all tuples are called none worth using."""
BY_CHANCE = 3
"""So many times as in random order there must be at least."""
FLAT = 0.1
"""Popularity with a smaller slope is called even."""
PER_LAG = 10
"""Streams with fewer tuples per lag of the model say nothing about it."""


def headline(profile: Profile) -> str:
    """Say how often tuples repeat recent ones, and how often they would by popularity alone."""
    if simple := _simple(profile):
        return simple
    orders = [profile.stream.interarrival, profile.permuted.interarrival]
    came, shuffled = percents(
        *(order.within(profile.h) / profile.popularity.tuples for order in orders)
    )
    last = "the tuple before" if profile.h == 1 else f"one of the {profile.h} tuples before"
    if not correlated(profile) and gain_of(profile) is None:
        return f"Popularity is all: {came} of the tuples repeat {last} them, shuffled {shuffled}."
    if not correlated(profile):
        near, far = (order.quantile(0.5) for order in orders)
        return (
            f"Correlation reaches further than the last {profile.h}: half of the repeats come"
            f" within {near:,} tuples; by popularity alone it would be {far:,}."
        )
    return f"{came} of the tuples repeat {last} them; by popularity alone it would be {shuffled}."


def lead(profile: Profile) -> str:
    """Say what the model, the memory and the policies make of it; may be empty."""
    if _simple(profile):
        return ""
    return " ".join([_model(profile), _memory(profile), _policies(profile)])


def _simple(profile: Profile) -> str:
    """What there is to say of a stream that is too simple or too short for more."""
    tuples, distinct = profile.popularity.tuples, profile.popularity.distinct
    if tuples == 1:
        return "One tuple says nothing about a stream."
    if distinct == 1:
        return f"All {tuples:,} tuples have the same key, so one place in memory is enough."
    if distinct == tuples:
        return f"No key comes twice among {tuples:,} tuples, so there is nothing to remember."
    if tuples < PER_LAG * profile.h:
        few = f"{tuples:,} tuples are too few to tell correlation from chance"
        return f"{few} over the last {profile.h}; take a smaller h or a longer stream."
    return ""


def copies(order: Order) -> float:
    """The share of the tuples that the model takes for copies of recent ones."""
    assert order.fitted is not None
    return 1 - order.fitted.model.b


def correlated(profile: Profile) -> bool:
    """Whether the model finds copies worth using, and not as many in random order."""
    return copies(profile.stream) >= max(FEW, BY_CHANCE * copies(profile.permuted))


def _model(profile: Profile) -> str:
    assert profile.stream.fitted is not None
    entropy = f"{profile.stream.fitted.entropy:.2f}{NBSP}bits"
    found, shuffled = copies(profile.stream), copies(profile.permuted)
    if not correlated(profile):
        return (
            f"The locality model finds copies in {percent(found)} of the tuples, and in"
            f" {percent(shuffled)} once they are shuffled; its entropy is {entropy} per tuple, of"
            f" {profile.entropy_iid:.2f} without."
        )
    return (
        f"Short-term correlation explains {percent(found)} of the tuples, popularity the rest"
        f" (b{NBSP}={NBSP}{1 - found:.2f}); knowing it lowers the entropy of the next tuple from"
        f" {profile.entropy_iid:.2f} to {entropy}."
    )


def _memory(profile: Profile) -> str:
    gain = gain_of(profile)
    if gain is None:
        return "A cache of the latest keys nowhere hits notably more than one of the most popular."
    recent, popular = percents(gain.recent, gain.popular)
    where = "at every budget"
    if gain.begins is not None and gain.ends is not None:
        where = f"between {_round(gain.begins)} and {_keys(gain.ends)}"
    elif gain.begins is not None:
        where = f"above a budget of {_keys(gain.begins)}"
    elif gain.ends is not None:
        where = f"below a budget of {_keys(gain.ends)}"
    return (
        f"A cache of the latest keys beats one of the most popular {where}, most at"
        f" {_keys(gain.best)}: it hits {recent} of the tuples, against {popular}."
    )


def _policies(profile: Profile) -> str:
    known = policy_names()
    seeing = RECENT + MODEL if correlated(profile) else RECENT
    recent, popular = (
        listed([name for name in names if name in known]) for names in (seeing, POPULAR)
    )
    zipf = profile.popularity.zipf
    skewed = zipf is not None and zipf.slope >= FLAT
    if gain_of(profile) is not None:
        return (
            f"Of the policies, {recent} see recency and {popular} do not. A cache can use that;"
            " a join can if the other stream has the same bursts at the same time."
        )
    if skewed:
        return f"Of the policies, {popular} count keys, and that is enough here."
    return "All keys are about as popular, so no policy can do much better than rand."


def _keys(count: int) -> str:
    """Write a number of keys with two digits, which is all that matters.

    >>> _keys(1), _keys(46_719)
    ('1 key', '47,000 keys')
    """
    return f"{_round(count)} key{'' if count == 1 else 's'}"


def _round(count: int) -> str:
    return f"{int(float(f'{count:.1e}')):,}"

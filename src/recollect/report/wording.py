"""What the numbers say, in sentences."""

from collections.abc import Sequence

from recollect.report.comparison import OPTIMUM, Comparison, Row
from recollect.report.scale import Scale, budget_label, memory, scale_of
from recollect.report.units import NBSP

# What people would do without evidence, in the order in which it makes a good contrast.
BASELINES = {"fifo": "forgetting the oldest (fifo)", "rand": "forgetting at random (rand)"}


def percent(share: float, digits: int = 0) -> str:
    """Write a share in per cent; only all is 100 % and only nothing is 0 %.

    >>> [percent(share).replace(NBSP, " ") for share in (0.731, 1.0, 0.99962, 1e-9)]
    ['73 %', '100 %', '99.96 %', 'less than 0.001 %']
    """
    for places in range(digits, 4):
        text = f"{100 * share:.{places}f}"
        if share in (0, 1) or 0 < float(text) < 100:
            return text + NBSP + "%"
    bound = "less than 0.001" if share < 0.5 else "more than 99.999"
    return bound + NBSP + "%"


def percents(*shares: float) -> list[str]:
    """Write shares with as few digits as tell them apart.

    >>> [text.replace(NBSP, " ") for text in percents(0.7312, 0.7338)]
    ['73.1 %', '73.4 %']
    """
    for digits in range(4):
        texts = [percent(share, digits) for share in shares]
        if len(set(texts)) == len(set(shares)):
            break
    return texts


def listed(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    >>> listed(["fifo", "lru", "gdj"])
    'fifo, lru and gdj'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def kept_of(text: str, recall: float, exact: int) -> str:
    """Say which part of the exact results was kept; the text is that part in per cent.

    >>> kept_of("73 %", 0.731, 1000), kept_of("100 %", 1.0, 1000)
    ('73 % of the 1,000 exact results', 'all 1,000 exact results')
    """
    if exact == 1:
        return "the only exact result" if recall == 1 else "nothing of the only exact result"
    whole = {0.0: "none of the", 1.0: "all"}.get(recall, f"{text} of the")
    return f"{whole} {exact:,} exact results"


def capital(text: str) -> str:
    """Begin a sentence."""
    return text[0].upper() + text[1:]


def headline(comparison: Comparison) -> str:
    """Say in one sentence what was learnt.

    Several policies are compared at the middle one of the budgets (the smaller of two), so that
    the choice of the budget flatters nobody.
    """
    if comparison.exact_results == 0:
        return "The exact join finds no results in these inputs, so there was nothing to lose."
    budgets = list(scale_of(comparison).places)
    rows = [row for row in comparison.rows if row.policy in comparison.rivals]
    if all(row.recall == 1 for row in rows):
        return _nothing_lost(comparison, budgets)
    if len(comparison.rivals) == 1:
        return _one_policy(comparison, budgets)
    return _several_policies(comparison, budgets)


def standing(comparison: Comparison) -> str:
    """Say which policy is best where, and how far it is from the optimum; may be empty."""
    scale = scale_of(comparison)
    if comparison.exact_results == 0:
        return ""
    return " ".join(filter(None, [_ranking(comparison, scale), _optimum(comparison, scale)]))


def _ranking(comparison: Comparison, scale: Scale) -> str:
    if len(comparison.rivals) == 1 or len(scale.places) == 1:
        return ""
    if all(len(comparison.winners(b)) == len(comparison.rivals) for b in scale.places):
        return ""
    wins: dict[str, list[str]] = {}
    for budget in scale.places:
        wins.setdefault(listed(comparison.winners(budget)), []).append(budget_label(budget))
    if len(wins) == 1:
        (names,) = wins
        verb = "are" if " and " in names else "is"
        count = "both" if len(scale.places) == 2 else f"all {len(scale.places)}"
        return f"{names} {verb} best at {count} budgets."
    return "Best are " + "; ".join(f"{n} at {listed(where)}" for n, where in wins.items()) + "."


def _optimum(comparison: Comparison, scale: Scale) -> str:
    middle = _middle(list(scale.places))
    best = next((row for row in comparison.at(middle) if row.policy == OPTIMUM), None)
    if best is None or comparison.rivals == [OPTIMUM]:
        return ""
    place = capital(memory(best))
    text = f"{place}, {percent(best.recall)} is the best that was possible ({OPTIMUM})"
    rival = comparison.contest(middle)[0]
    if rival.results >= best.results:
        return f"{text}, and {rival.policy} reaches it."
    return f"{text}; {rival.policy} finds {percent(1 - rival.results / best.results)} less."


def _nothing_lost(comparison: Comparison, budgets: list[str]) -> str:
    names, place = comparison.rivals, memory(comparison.at(budgets[0])[0])
    everyone = f"{names[0]} keeps" if len(names) == 1 else f"{_all(len(names))} policies keep"
    where = place if len(budgets) == 1 else f"at every budget, even {place}"
    return f"{everyone} {kept_of('100', 1.0, comparison.exact_results)} {where}."


def _one_policy(comparison: Comparison, budgets: list[str]) -> str:
    rows = {row.budget: row for row in comparison.of(comparison.rivals[0])}
    small, *_, large = [rows[budget] for budget in budgets if budget in rows] * 2
    if small is large:
        kept = kept_of(percent(small.recall), small.recall, comparison.exact_results)
        return f"{capital(memory(small))}, {small.policy} keeps {kept}."
    low, high = percents(small.recall, large.recall)
    kept = kept_of(low, small.recall, comparison.exact_results)
    if small.recall == large.recall:
        return f"{small.policy} keeps {kept} {memory(small)}, and as many {memory(large)}."
    high = {0.0: "none", 1.0: "all"}.get(large.recall, high)
    return f"{small.policy} keeps {kept} {memory(small)} and {high} {_again(large)}."


def _several_policies(comparison: Comparison, budgets: list[str]) -> str:
    budget = _middle(budgets)
    rows, winners = comparison.contest(budget), comparison.winners(budget)
    best, place, exact = rows[0], capital(memory(rows[0])), comparison.exact_results
    if len(winners) == len(rows):
        kept = kept_of(percent(best.recall), best.recall, exact)
        who = (
            f"{best.policy} keeps" if len(rows) == 1 else f"{_all(len(rows)).lower()} policies keep"
        )
        return f"{place}, {who} {kept}."
    losers = [row for row in rows if row.policy not in winners]
    contrast = next((r for name in BASELINES for r in losers if r.policy == name), losers[-1])
    named = BASELINES.get(contrast.policy, f"the weakest, {contrast.policy},")
    if len(rows) == 2:
        named = BASELINES.get(contrast.policy, contrast.policy)
    high, low = percents(best.recall, contrast.recall)
    low = "none" if contrast.recall == 0 else low
    who = best.policy + " keeps" if len(winners) == 1 else listed(winners) + " keep"
    return f"{place}, {who} {kept_of(high, best.recall, exact)}; {named} keeps {low}."


def _again(row: Row) -> str:
    return memory(row).replace(" of the memory", "")


def _middle(budgets: list[str]) -> str:
    return budgets[(len(budgets) - 1) // 2]


def _all(count: int) -> str:
    return "Both" if count == 2 else f"All {count}"

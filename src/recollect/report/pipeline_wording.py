"""What a run of a pipeline says, in sentences."""

from recollect.report.pipeline_run import Run
from recollect.report.units import round_size, size
from recollect.report.wording import capital, kept_of, listed, percent


def headline(run: Run) -> str:
    """Say what was kept and what was lost."""
    place, quality = _memory(run), run.quality
    if quality is None and not run.batches:
        return "Nothing was measured in this run."
    if quality is None:
        found = sum(batch["results"] for batch in run.batches)
        text = f"the join found {_count(found, 'result')}; how many are missing was not measured."
        return _sentence(place, text)
    if quality.exact == 0:
        return "The exact join finds no results in these inputs, so there was nothing to lose."
    kept = kept_of(percent(quality.recall), quality.recall, quality.exact)
    lost = f"; {quality.lost:,} {'is' if quality.lost == 1 else 'are'} lost"
    if quality.recall in (0, 1):
        lost = ""
    return _sentence(place, f"the join keeps {kept}{lost}.")


def lead(run: Run) -> str:
    """Say how it went: speed, memory, what was forgotten, and whether something is wrong."""
    sentences = []
    if run.foreign:
        sentences.append(
            f"Beware: {_count(run.foreign, 'result')} of the join"
            f" {'is' if run.foreign == 1 else 'are'} not among the exact ones."
        )
    if run.batches:
        sentences += [_speed(run), _forgotten(run)]
    return " ".join(sentences)


def _speed(run: Run) -> str:
    rows = sum(batch["rows_in"] for batch in run.batches)
    seconds = sum(batch["duration_ms"] for batch in run.batches) / 1000
    rate = f" at {rows / seconds:,.0f} rows/s" if seconds else ""
    return f"{_count(rows, 'row')} came in {_count(len(run.batches), 'batch')}{rate}."


def _forgotten(run: Run) -> str:
    peak = max(batch["buffered"] for batch in run.batches)
    memory = max(batch["buffered_bytes"] for batch in run.batches)
    counts = {
        name: sum(batch[name] for batch in run.batches)
        for name in ("evicted", "refused", "expired", "late")
    }
    happened = [f"{count:,} {name}" for name, count in counts.items() if count]
    return (
        f"Memory held at most {_count(peak, 'tuple')} ({size(memory)});"
        f" {listed(happened) if happened else 'nothing was forgotten'}."
    )


def _memory(run: Run) -> str:
    if run.budget_tuples is not None:
        return f"with room for {_count(run.budget_tuples, 'tuple')}"
    if run.budget_bytes is not None:
        return f"with {round_size(run.budget_bytes)} of memory"
    return ""


def _sentence(place: str, text: str) -> str:
    return f"{capital(place)}, {text}" if place else capital(text)


def _count(number: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {noun if number == 1 else plural}"

"""``recollect profile``: what kind of locality a stream has."""

from pathlib import Path
from typing import Annotated, Any

import typer

from recollect.cli import options
from recollect.cli.show import print_facts, print_json, progress
from recollect.locality import Profile
from recollect.locality import profile as measure
from recollect.report import require_page
from recollect.report.profile import write_profile_report
from recollect.report.profile_wording import headline, lead


def profile(
    file: options.File,
    key: Annotated[str, typer.Option(help="Key column; several separated by commas.")],
    time: Annotated[
        str | None, typer.Option(help="Time column, to check that tuples are in its order.")
    ] = None,
    h: Annotated[
        int, typer.Option("--h", help="How many tuples the locality model looks back.")
    ] = 50,
    seed: Annotated[int, typer.Option(help="Which permutation the stream is compared with.")] = 0,
    html: Annotated[
        str | None, typer.Option(help="Write a page with the pictures to this file.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Measure popularity, distances, locality model and entropy of a stream in one pass."""
    if html is not None:
        options.require_apart([file], html)
        require_page(html)
    names = [name.strip() for name in key.split(",")]
    with progress() as report:
        found = measure(file, names, time=time, h=h, seed=seed, progress=report)
    if html is not None:
        facts = {"File": file, "Key": key, "Seed of the permutation": seed}
        write_profile_report(found, html, f"{Path(file).name}, by {key}", facts)
    if json:
        print_json(found.to_dict())
        return
    print_facts(f"{file}, by {key}", shown(found))
    print(f"{headline(found)}\n{lead(found)}".rstrip())
    if html is not None:
        print(f"Report: {html}")


def shown(found: Profile) -> dict[str, Any]:
    """What is worth knowing of a profile, for people."""
    stream, shuffled, zipf = found.stream, found.permuted, found.popularity.zipf
    error = "" if zipf is None or zipf.error is None else f" ± {zipf.error:.3f}"
    facts = {
        "tuples": found.popularity.tuples,
        "distinct keys": found.popularity.distinct,
        "tuples without a key": found.null_keys,
        "Zipf slope": None if zipf is None else f"{zipf.slope:z.3f}{error}",
        "entropy by popularity": f"{found.entropy_iid:.3f} bits",
    }
    if stream.fitted is not None and shuffled.fitted is not None:
        facts |= {
            "entropy": f"{stream.fitted.entropy:.3f} bits",
            f"b (h = {found.h})": f"{stream.fitted.model.b:.3f}",
            "b shuffled": f"{shuffled.fitted.model.b:.3f}",
        }
    for title, what in (("inter-arrival distance", "interarrival"), ("stack distance", "stack")):
        for share, name in ((0.5, "median"), (0.9, "90 %")):
            facts[f"{title}, {name}"] = getattr(stream, what).quantile(share)
            facts[f"{title}, {name}, shuffled"] = getattr(shuffled, what).quantile(share)
    return facts

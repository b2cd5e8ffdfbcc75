"""``recollect join``: join two files inside a budget."""

from typing import Annotated

import typer

from recollect.cli import options
from recollect.cli.show import print_facts, print_json, progress
from recollect.join.whole import WholeJoin
from recollect.policies import policy_names
from recollect.streams import open_sink


def join(
    left: options.Left,
    right: options.Right,
    on: options.On,
    time: options.Time,
    window: options.Window,
    budget: Annotated[
        str,
        typer.Option(help="2000 (tuples), 10% (of what the exact join holds), 64MB, unlimited."),
    ] = "unlimited",
    policy: Annotated[
        str,
        typer.Option(
            help=f"Which tuple to forget: {', '.join(policy_names())}; with parameters as in"
            " gdj:percentile=0.95; or one of your own as my_module:MyPolicy."
        ),
    ] = "clock",
    split: options.Split = False,
    shares: options.Shares = None,
    where: options.Where = None,
    lateness: options.Lateness = None,
    null_keys: options.NullKeys = "error",
    seed: options.Seed = 0,
    exact: Annotated[
        bool, typer.Option(help="Also count the exact results, for the recall.")
    ] = False,
    out: options.Out = None,
    json: options.Json = False,
) -> None:
    """Join two streams inside a memory budget."""
    options.require_apart([left, right], out)
    with progress() as report:
        run = WholeJoin(
            left, right, on=on, time=options.pair(time), window=options.pair(window),
            budget=budget, policy=policy, split=options.split_of(split, shares), where=where,
            lateness=lateness, null_keys=null_keys, seed=seed, exact=exact,
            count_only=out is None, progress=report,
        )  # fmt: skip
        if out is None:
            for _ in run:
                pass
        else:
            with open_sink(out, run.schema) as sink:
                for batch in run:
                    sink.write(batch)
    if json:
        print_json(run.stats.as_dict())
    else:
        print_facts(f"{left} ⋈ {right}", run.stats.as_dict())

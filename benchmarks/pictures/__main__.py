"""The pictures of the policy pages, and the tables of their numbers.

    python benchmarks/pictures [--out FOLDER] [NAME …]

NAME-memory.svg  what the policy keeps of small streams, and what it finds
NAME-recall.svg  its recall over the budget on three pairs of streams, among all the others

The same command always draws the same pictures. It takes some two minutes of processor time, most
of them for the optimum. FLOWEXPECT, which is not a policy of the join, has no recall there.
"""

import argparse
from pathlib import Path

from memory import draw_memory
from recall import ROWS, SHARES, draw_curves, hit_rates, print_table, recalls

from recollect.policies import policy_names

CACHES = ["sieve", "s3-fifo", "lfd"]
PAGES = [*(name for name in policy_names() if name != "elba"), "opt", "flowexpect", *CACHES]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pages", nargs="*", default=PAGES, metavar="NAME")
    parser.add_argument("--out", type=Path, default=Path("docs/policies/pictures"))
    arguments = parser.parse_args()
    joins, caches = recalls(), hit_rates()
    print_table(joins, SHARES.index(10), "recall at 10 %")
    print_table(caches, ROWS.index(100), "hits, 100 rows")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for page in arguments.pages:
        cache = page in CACHES
        draw_memory(page, cache, arguments.out)
        if page != "flowexpect":
            draw_curves(page, cache, caches if cache else joins, arguments.out)


if __name__ == "__main__":
    main()

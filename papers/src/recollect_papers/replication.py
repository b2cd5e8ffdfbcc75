"""Experiments run again: what a paper claims, what was measured, and whether the two agree."""

import base64
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike

from recollect.errors import InputError
from recollect.report.origin import FOOTER, origin
from recollect.report.page import facts as fact_list
from recollect.report.page import header, render_page, section, write_page
from recollect.report.table import table

VERDICTS = {
    "yes": "reproduced",
    "partly": "partly",
    "no": "not reproduced",
    "open": "not measured",
}


@dataclass(frozen=True)
class Finding:
    """A claim and what became of it.

    Parameters
    ----------
    claim
        What the paper says, in a sentence.
    verdict
        ``yes``, ``partly``, ``no``, or ``open`` if this run could not tell.
    measured
        What was measured, with figures.
    why
        Why it does not agree, if it does not.
    """

    claim: str
    verdict: str
    measured: str
    why: str = ""

    def __post_init__(self) -> None:
        """Check the verdict."""
        if self.verdict not in VERDICTS:
            raise InputError(f"unknown verdict {self.verdict!r}; known are {', '.join(VERDICTS)}")

    @property
    def outcome(self) -> str:
        """The verdict in words."""
        return VERDICTS[self.verdict]


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper, run again.

    Parameters
    ----------
    paper
        The short name of the paper.
    name, title, shows
        As of the experiment.
    findings
        What became of the claims.
    picture
        SVG.
    """

    paper: str
    name: str
    title: str
    shows: str
    findings: Sequence[Finding]
    picture: str

    @property
    def anchor(self) -> str:
        """The name of its place in a page."""
        return f"{self.paper}-{self.name}"


def exhibit_text(exhibit: Exhibit) -> str:
    """Write the commentary as Markdown.

    >>> print(exhibit_text(Exhibit("gdj", "figure-4", "Figure 4: buffer size", "More is more.",
    ...     [Finding("GDJ is best.", "no", "PROB 0.8, GDJ 0.7.", "Keys are stable.")], "")))
    ### Figure 4: buffer size
    <BLANKLINE>
    More is more.
    <BLANKLINE>
    - **not reproduced**: GDJ is best. *PROB 0.8, GDJ 0.7.* Keys are stable.
    """
    lines = [f"### {exhibit.title}", "", exhibit.shows, ""]
    for finding in exhibit.findings:
        parts = [f"- **{finding.outcome}**: {finding.claim} *{finding.measured}* {finding.why}"]
        lines += [part.rstrip() for part in parts]
    return "\n".join(lines)


def replication_text(
    papers: Mapping[str, str], exhibits: Sequence[Exhibit], facts: Mapping[str, str], images: str
) -> str:
    """Write all exhibits as one Markdown page.

    Parameters
    ----------
    papers
        Titles of the papers by their short names.
    exhibits
        In the order of the papers.
    facts
        About the run.
    images
        Where the pictures are, with ``{paper}`` and ``{name}`` in it.
    """
    lines = ["# The papers, run again", "", headline(exhibits), ""]
    lines += [" · ".join(f"{name}: {value}" for name, value in facts.items()), ""]
    lines += ["| | claim | reproduced? |", "|---|---|---|"]
    for exhibit in exhibits:
        short = exhibit.title.partition(":")[0]
        for finding in exhibit.findings:
            claim = finding.claim.replace("|", "\\|")
            lines.append(
                f"| [{exhibit.paper} {short}](#{exhibit.anchor}) | {claim} | {finding.outcome} |"
            )
    for name, title in papers.items():
        mine = [exhibit for exhibit in exhibits if exhibit.paper == name]
        if mine:
            lines += ["", f"## {title}"]
        for exhibit in mine:
            image = images.format(paper=exhibit.paper, name=exhibit.name)
            lines += ["", f'<a id="{exhibit.anchor}"></a>', "", exhibit_text(exhibit)]
            lines += ["", f"![{exhibit.title}]({image})"]
    return "\n".join(lines) + "\n"


def headline(exhibits: Sequence[Exhibit]) -> str:
    """Say in a sentence how much was reproduced.

    >>> finding = Finding("c", "yes", "m")
    >>> headline([Exhibit("gdj", "figure-4", "t", "s", [finding, finding], "")])
    '2 of 2 claims reproduced, in 1 figures and tables.'
    """
    verdicts = [finding.verdict for exhibit in exhibits for finding in exhibit.findings]
    others = [
        f"{verdicts.count(verdict)} {VERDICTS[verdict]}"
        for verdict in ("partly", "no", "open")
        if verdict in verdicts
    ]
    rest = f" ({', '.join(others)})" if others else ""
    return (
        f"{verdicts.count('yes')} of {len(verdicts)} claims reproduced{rest},"
        f" in {len(exhibits)} figures and tables."
    )


def write_replication_report(
    papers: Mapping[str, str],
    exhibits: Sequence[Exhibit],
    facts: Mapping[str, str],
    path: str | PathLike[str],
) -> None:
    """Write all exhibits as one HTML page that needs no network.

    Parameters
    ----------
    papers
        Titles of the papers by their short names.
    exhibits
        In the order of the papers.
    facts
        About the run.
    path
        The file; its folder must exist. It appears when it is complete.
    """
    shown = {
        name: title for name, title in papers.items() if any(e.paper == name for e in exhibits)
    }
    sections = [
        header("recollect", "The papers, run again", headline(exhibits)),
        section("Contents", _contents(shown, exhibits)),
        section("Claims", _claims(exhibits)),
    ]
    for name, title in shown.items():
        sections.append(
            f'<section><h2 class="paper" id="{name}">{html.escape(title)}</h2></section>'
        )
        sections += [_shown(exhibit) for exhibit in exhibits if exhibit.paper == name]
    run = fact_list(
        {**facts, **origin("recollect", "recollect-papers", "numba", "numpy", "matplotlib")}
    )
    sections += [section("The run", run), FOOTER]
    style = files("recollect_papers").joinpath("replication.css").read_text(encoding="utf-8")
    write_page(render_page("The papers, run again", "\n".join(sections), [], style), path)


def _contents(papers: Mapping[str, str], exhibits: Sequence[Exhibit]) -> str:
    groups = []
    for name, title in papers.items():
        links = "".join(
            f'<li><a href="#{e.anchor}">{html.escape(e.title)}</a></li>'
            for e in exhibits
            if e.paper == name
        )
        groups.append(f'<li><a href="#{name}">{html.escape(title)}</a><ul>{links}</ul></li>')
    return f'<ul class="contents">{"".join(groups)}</ul>'


def _claims(exhibits: Sequence[Exhibit]) -> str:
    bodies = []
    for exhibit in exhibits:
        short = html.escape(f"{exhibit.paper} {exhibit.title.partition(':')[0]}")
        bodies.append(
            "\n".join(
                f'<tr><td class="where"><a href="#{exhibit.anchor}">{short}</a></td>'
                f'<td class="claim">{html.escape(finding.claim)}</td>{_verdict(finding, "td")}</tr>'
                for finding in exhibit.findings
            )
        )
    claims = table("Claims", ["Where", "Claim of the paper", "Reproduced?"], bodies)
    return f'<div class="claims">{claims}</div>'


def _shown(exhibit: Exhibit) -> str:
    picture = base64.b64encode(exhibit.picture.encode()).decode()
    findings = "".join(
        f"<li>{_verdict(finding, 'span')} {html.escape(finding.claim)}"
        f' <span class="note">{html.escape(f"{finding.measured} {finding.why}".strip())}</span>'
        "</li>"
        for finding in exhibit.findings
    )
    return (
        f'<section id="{exhibit.anchor}">\n<h2>{html.escape(exhibit.title)}</h2>\n'
        f"<p>{html.escape(exhibit.shows)}</p>\n"
        f'<div class="frame"><img class="picture" alt="{html.escape(exhibit.title)}"'
        f' src="data:image/svg+xml;base64,{picture}"></div>\n'
        f'<ul class="findings">{findings}</ul>\n</section>'
    )


def _verdict(finding: Finding, element: str) -> str:
    return f'<{element} class="verdict {finding.verdict}">{finding.outcome}</{element}>'

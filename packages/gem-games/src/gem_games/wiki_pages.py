"""Pages of the WikiGame: what a page is, and the small encyclopedia that the package ships."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from gem.errors import DataError


class Page(NamedTuple):
    """A page as the game needs it."""

    title: str
    #: Plain text.
    text: str
    #: Titles of the pages it links to, each once, in the order of the page.
    links: tuple[str, ...]


class NoPage(DataError):
    """There is no page of that title."""


class Pages(Protocol):
    """Where pages come from."""

    def page(self, title: str) -> Page:
        """The page of that title, or the one that it redirects to.

        Raises:
            NoPage: there is none.
            gem.DataError: what came is no page.
            gem.MissingDependency: the source of pages is out of reach.
        """
        ...

    def random_page(self, rng: Random) -> Page:
        """A page with links; the same one for the same state of ``rng`` as far as the source allows."""
        ...


class LocalPages:
    """The small encyclopedia in ``data/wiki_pages.txt``, in which every page can be reached from every other."""

    def page(self, title: str) -> Page:
        try:
            return graph()[title]
        except KeyError:
            raise NoPage(f"the encyclopedia has no page {title!r}: see data/wiki_pages.txt for those it has") from None

    def random_page(self, rng: Random) -> Page:
        titles = _titles()
        return graph()[titles[int(rng.random() * len(titles))]]


@cache
def graph() -> Mapping[str, Page]:
    """Title -> page of the encyclopedia, read when first asked for."""
    lines = Path(__file__).with_name("data").joinpath("wiki_pages.txt").read_text("ascii").splitlines()
    return {page.title: page for page in (_parse(line) for line in lines if not line.startswith("#"))}


@cache
def _titles() -> tuple[str, ...]:
    return tuple(graph())


_LINK = re.compile(r"\[\[([^\]]+)\]\]")


def _parse(line: str) -> Page:
    title, text = line.split(": ", 1)
    links = dict.fromkeys(link[0].upper() + link[1:] for link in _LINK.findall(text))
    return Page(title, _LINK.sub(r"\1", text), tuple(links))


@cache
def distances(goal: str) -> Mapping[str, int]:
    """Title -> clicks from there to ``goal``, in the encyclopedia."""
    linked_from = _linked_from()
    found = {goal: 0}
    queue = [goal]
    for title in queue:  # grows while it is walked through
        for other in linked_from[title]:
            if other not in found:
                found[other] = found[title] + 1
                queue.append(other)
    return found


@cache
def _linked_from() -> Mapping[str, list[str]]:
    linked_from: dict[str, list[str]] = {title: [] for title in graph()}
    for page in graph().values():
        for link in page.links:
            linked_from[link].append(page.title)
    return linked_from


#: Ends a sentence: a mark, blanks, and what may begin the next one.
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z0-9])")


def shortened(text: str, count: int, unit: str) -> str:
    """The first ``count`` ``words``, ``characters`` or ``sentences`` of a text, with ``...`` where it goes on."""
    if not count:
        return ""
    if unit == "characters":
        short = text[:count].rstrip()
    elif unit == "words":
        words = text.split(None, count)
        short = text if len(words) <= count else " ".join(words[:count])
    else:
        short = " ".join(_SENTENCE.split(text.strip(), count)[:count])
    if len("".join(short.split())) == len("".join(text.split())):
        return text.strip()
    return f"{short} ..."

"""WikiGame: from page to page by links, from a start to a goal."""

from __future__ import annotations

from typing import Any

from gem.errors import GemError
from gem_games.base import Game, NoSolution, Outcome, clean
from gem_games.options import one_of, whole
from gem_games.wiki_pages import LocalPages, NoPage, Page, Pages, distances, shortened

#: The move that goes back.
BACK = "<PREV_PAGE>"

#: What the variants say about going back.
VARIANTS = {
    "noregrets": "There is no way back, but a link may lead to a page seen before. A page without links loses.",
    "oneback": f"\\boxed{{{BACK}}} goes back to the page before, but not twice in a row. A page without links sends "
    "you back by itself.",
    "freenav": f"\\boxed{{{BACK}}} goes back to the page before, as often as you like. A page without links sends you "
    "back by itself.",
    "eidetic": "You remember everything: besides the links of the page you may name every page you have seen, or seen "
    "a link to. A page without links loses.",
}


class WikiGame(Game):
    r"""Links lead from page to page, ``\boxed{Title}``, from a start to a goal.

    Win 1.0. Titles that are no link of the page are not valid; case, underscores and punctuation do not matter.

    ``variant``: ``noregrets`` has no way back; ``oneback`` allows ``\boxed{<PREV_PAGE>}``, not twice in a row;
    ``freenav`` allows it always; ``eidetic`` lets every page seen, or seen a link to, be named. A page without links
    loses in ``noregrets`` and ``eidetic``, and sends back to the page before in the others.

    ``reset(options={"start": "Dog", "goal": "Tea"})`` sets the pages; what it leaves out is drawn.

    Args:
        max_turns: clicks allowed.
        backend: where the pages are: ``local`` (a small encyclopedia that comes with the package), ``kiwix`` (a Kiwix
            server) or ``mw`` (the API of a MediaWiki, such as Wikipedia's).
        trawler_kwargs: for the servers: ``url``, ``zimfile`` (Kiwix: the book's name), ``query_delay_ms``,
            ``max_query_attempts``, ``query_use_cache``, ``timeout`` in seconds.
        page_summary_length: how much of a page is shown: a number and its unit, ``words``, ``characters`` or
            ``sentences``.
        variant: the rule about going back: ``noregrets``, ``oneback``, ``freenav`` or ``eidetic``.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    request = "Your link:"
    variant: str
    summary_length: int
    summary_unit: str
    #: Titles that may be named.
    links: tuple[str, ...] = ()

    def __init__(
        self,
        max_turns: int = 10,
        backend: str = "local",
        trawler_kwargs: dict[str, Any] | None = None,
        page_summary_length: tuple[int, str] = (50, "words"),
        variant: str = "noregrets",
        format_error: str = "terminate",
    ) -> None:
        length, unit = _summary(page_summary_length)
        setting = {
            "max_turns": whole("max_turns", max_turns, 1),
            "variant": one_of("variant", variant, VARIANTS),
            "summary_length": length,
            "summary_unit": unit,
        }
        super().__init__([setting], format_error)
        self.pages = _pages(backend, trawler_kwargs)
        self.asked: tuple[str | None, str | None] = (None, None)

    def rules(self) -> str:
        return (
            "Wiki game. You are on a page of an encyclopedia, and have to come to the goal page by following links. "
            "Use what you know about the world to choose them.\n"
            "Follow a link by writing its title, \\boxed{Title}.\n"
            f"{VARIANTS[self.variant]}\n"
            f"You have {self.max_turns} turns."
        )

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: as for every environment. Of a server's pages, the same seed finds the same ones as long as they
                are not changed there (a Kiwix server draws by itself from a book without an index of titles).
            options: ``start`` and ``goal``, titles of pages; what is left out is drawn.

        Raises:
            gem.MissingDependency: the server is out of reach.
            gem.DataError: it answers with something else than pages, or has no such page.
        """
        self.playing = False  # should the pages be out of reach, the episode before is over all the same
        asked = options if isinstance(options, dict) else {}  # the base refuses anything else
        start, goal = asked.get("start"), asked.get("goal")
        for title in (start, goal):
            if title is not None and not isinstance(title, str):
                raise TypeError(f"start and goal must be titles of pages, got {title!r}")
        self.asked = (start, goal)
        return super().reset(seed, options)

    def deal(self) -> None:
        start, goal = self._draw()
        self.goal = goal.title
        self.about_goal = shortened(goal.text, self.summary_length, self.summary_unit)
        self.path: tuple[str, ...] = ()
        self.went_back = False
        self.links = ()
        self._arrive(start)

    def _draw(self) -> tuple[Page, Page]:
        """Start and goal: different, and in the encyclopedia two clicks apart or more, within the turn limit."""
        asked_start, asked_goal = self.asked
        pages, rng = self.pages, self.rng
        both = asked_start is not None and asked_goal is not None
        closest = 1 if both else min(2, self.max_turns)
        for _ in range(1 if both else 10_000):
            start = pages.random_page(rng) if asked_start is None else pages.page(asked_start)
            goal = pages.random_page(rng) if asked_goal is None else pages.page(asked_goal)
            if isinstance(pages, LocalPages):
                if closest <= distances(goal.title)[start.title] <= self.max_turns:
                    return start, goal
            elif start.title != goal.title:
                return start, goal
        raise ValueError(
            f"start {asked_start!r} and goal {asked_goal!r} must be different pages and {self.max_turns} clicks apart "
            "at most: name others, or leave them out"
        )

    @staticmethod
    def read(box: str) -> str | None:
        title = box.strip()
        return (BACK if _key(title) == _BACK_KEY else title) if title else None

    def play(self, move: str) -> tuple[str, float, Outcome]:
        if move == BACK:
            return self._back()
        title = self._match(move)
        if title is None:
            return self.invalid(f"{_printable(move)} is no link you may follow from {self.page}")
        try:
            page = self.pages.page(title)
        except NoPage:
            self.links = tuple(link for link in self.links if link != title)
            self._write()
            return self.invalid(f"the link to {title} leads to no page")
        except GemError:
            self.turn -= 1  # not the agent's fault: the step may be tried again
            raise
        if page.title == self.goal:
            self._arrive(page)
            return f"Turn {self.turn}: you are on {page.title}, the goal. You win!", 1.0, True
        if page.links:
            self.went_back = False
            self._arrive(page)
            return f"Turn {self.turn}: you are on {page.title}.", 0.0, None
        if self.variant in ("noregrets", "eidetic"):
            self._arrive(page)
            return f"Turn {self.turn}: {page.title} has no links. You are stuck.", 0.0, False
        self.went_back = True
        return f"Turn {self.turn}: {page.title} has no links, so you are back on {self.page}.", 0.0, None

    def _back(self) -> tuple[str, float, Outcome]:
        if self.variant not in ("oneback", "freenav"):
            return self.invalid("there is no way back in this variant")
        if len(self.path) < 2:
            return self.invalid("there is no page before this one")
        if self.went_back and self.variant == "oneback":
            return self.invalid("going back twice in a row is not allowed")
        try:
            page = self.pages.page(self.path[-2])
        except GemError:
            self.turn -= 1
            raise
        self.path = self.path[:-2]
        self.went_back = True
        self._arrive(page)
        return f"Turn {self.turn}: you are back on {page.title}.", 0.0, None

    def _arrive(self, page: Page) -> None:
        self.page = page.title
        self.path = (*self.path, page.title)
        if self.variant == "eidetic":
            known = dict.fromkeys((*page.links, *self.links, *self.path))
            known.pop(page.title, None)
            self.links = tuple(known)
        else:
            self.links = page.links
        self.about = shortened(page.text, self.summary_length, self.summary_unit)
        self._write()

    def _write(self) -> None:
        links = "".join(f"\n- {link}" for link in self.links)
        self.text = f"Goal: {self.goal}. {self.about_goal}\nPage: {self.page}. {self.about}\nLinks:{links or ' none'}"

    def _match(self, move: str) -> str | None:
        """The link that a move means: the same title, or the only one that differs in writing only."""
        if move in self.links:
            return move
        key = _key(move)
        found = [link for link in self.links if _key(link) == key]
        return found[0] if len(found) == 1 and key else None

    def board(self) -> str:
        return self.text

    def random_move(self) -> str:
        return self.links[int(self.rng.random() * len(self.links))] if self.links else BACK

    def solution(self) -> str:
        """A link on a shortest way to the goal."""
        if not isinstance(self.pages, LocalPages):
            raise NotImplementedError("WikiGame has no solver for the pages of a server")
        clicks = distances(self.goal)
        link = min(self.links, key=clicks.__getitem__)
        if self.turn + 1 + clicks[link] > self.max_turns:
            raise NoSolution(f"{self.goal} is more clicks away than turns are left")
        return link


def _key(title: str) -> str:
    """A title without what may be written in more than one way."""
    return clean(title.replace("\\_", " ").replace("_", " "))


_BACK_KEY = _key(BACK)


def _printable(title: str) -> str:
    """The beginning of a title, without what cannot be encoded."""
    return repr(title[:80].encode("utf-8", "replace").decode())


def _summary(value: Any) -> tuple[int, str]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"page_summary_length must be a number and a unit, such as (50, 'words'), got {value!r}")
    length = whole("page_summary_length[0]", value[0], 0)
    return length, one_of("page_summary_length[1]", value[1], ("words", "characters", "sentences"))


def _pages(backend: str, arguments: Any) -> Pages:
    one_of("backend", backend, ("local", "kiwix", "mw"))
    if arguments is not None and not isinstance(arguments, dict):
        raise ValueError(f"trawler_kwargs must be a dict, such as {{'url': ...}}, got {arguments!r}")
    if backend == "local":
        if arguments:
            raise ValueError("trawler_kwargs are for the backends 'kiwix' and 'mw'; 'local' takes none")
        return LocalPages()
    from gem_games.wiki_servers import Kiwix, MediaWiki

    server = Kiwix if backend == "kiwix" else MediaWiki
    try:
        return server(**(arguments or {}))
    except TypeError as error:
        raise ValueError(f"trawler_kwargs for {backend!r}: {error}") from None

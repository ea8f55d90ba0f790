"""Pages of the WikiGame from servers: Kiwix, which serves ZIM files, and MediaWiki, whose API Wikipedia speaks."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from random import Random
from typing import Any
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from gem.errors import DataError, MissingDependency
from gem_games.options import flag, whole
from gem_games.wiki_pages import NoPage, Page

#: Statuses after which a request is worth repeating.
_BUSY = frozenset({429, 500, 502, 503, 504})
#: Pages remembered; pages drawn before a source counts as unfit; beginnings of titles tried for each.
_REMEMBERED, _DRAWN, _TERMS = 512, 25, 5
#: Answers that a page's links may take, each with up to 500 of them.
_ANSWERS = 20
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class _Server:
    """Requests to a server of pages, repeated where that may help; pages remembered."""

    #: What the server is called, and what to do when it does not answer.
    name: str
    advice: str

    def __init__(
        self,
        url: str,
        query_delay_ms: int = 25,
        max_query_attempts: int = 5,
        query_use_cache: bool = True,
        timeout: float = 10.0,
    ) -> None:
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise ValueError(f"url must be an http or https address, got {url!r}")
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
            raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
        self.url = url.rstrip("/")
        self.delay = whole("query_delay_ms", query_delay_ms, 0) / 1e3
        self.attempts = whole("max_query_attempts", max_query_attempts, 1)
        self.timeout = float(timeout)
        self.remembers = flag("query_use_cache", query_use_cache)
        self._remembered: dict[str, Page] = {}

    def page(self, title: str) -> Page:
        page = self._remembered.get(title)
        if page is None:
            page = self._fetch(title)[0]
            if self.remembers:
                if len(self._remembered) >= _REMEMBERED:
                    self._remembered.pop(next(iter(self._remembered)))
                self._remembered[title] = page
        return page

    def random_page(self, rng: Random) -> Page:
        for _ in range(_DRAWN):
            title = self._random_title(rng)
            if title is None:
                continue
            try:
                page, fit = self._fetch(title)
            except NoPage:
                continue
            if fit and page.links:
                return page
        raise DataError(f"{self.name} at {self.url} gave no page with links in {_DRAWN} draws: check what it serves")

    def _fetch(self, title: str) -> tuple[Page, bool]:
        """A page, and whether it is fit to begin or to end with: not one that lists meanings of a word."""
        raise NotImplementedError

    def _random_title(self, rng: Random) -> str | None:
        raise NotImplementedError

    def _get(self, url: str) -> tuple[str, bytes]:
        """The address that answered, after redirects, and its answer.

        Raises:
            NoPage: the server says that there is nothing (404).
            gem.MissingDependency: there is no answer, or a refusal.
        """
        request = urllib.request.Request(url, headers={"User-Agent": "gem-games WikiGame"})
        problem = ""
        for attempt in range(self.attempts):
            time.sleep(self.delay if not attempt else max(self.delay, 0.1 * 2**attempt))
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as response:
                    return response.geturl(), response.read()
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 404:
                    raise NoPage(f"{self.name} at {self.url} has nothing at {url}") from None
                problem = f"HTTP status {error.code}"
                if error.code not in _BUSY:
                    break
            except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                problem = str(reason) or type(reason).__name__
                if isinstance(reason, ConnectionRefusedError):
                    break
        raise MissingDependency(f"no page from {self.name} at {self.url} ({problem}): {self.advice}")

    def _json(self, url: str) -> Any:
        _, answer = self._get(url)
        try:
            return json.loads(answer)
        except ValueError:
            raise DataError(f"{self.name} at {self.url} did not answer with JSON: check its url") from None


# -- MediaWiki --------------------------------------------------------------------------------------------


class MediaWiki(_Server):
    """The API of a MediaWiki (``.../w/api.php``), with its extension TextExtracts for the text of pages.

    Pages are drawn from its alphabetical list, so that a seed finds the same ones again.
    """

    name = "the MediaWiki API"
    advice = "check the network and trawler_kwargs['url'], or play with backend='local'"

    def __init__(self, url: str = "https://en.wikipedia.org/w/api.php", **options: Any) -> None:
        super().__init__(url, **options)

    def _query(self, **parameters: str) -> dict[str, Any]:
        """The answer to a query.

        Raises:
            gem.DataError: the API answered with an error, or with something else.
        """
        parameters = {"action": "query", "format": "json", "formatversion": "2", **parameters}
        answer = self._json(f"{self.url}?{urlencode(parameters, errors='replace')}")
        if not isinstance(answer, dict):
            raise DataError(f"{self.name} at {self.url} did not answer as one does: check its url")
        if "error" in answer:
            error = answer["error"]
            reason = error.get("info", error) if isinstance(error, dict) else error
            raise DataError(f"{self.name} at {self.url} refused the query: {reason}")
        return answer

    def _fetch(self, title: str) -> tuple[Page, bool]:
        with self._shape():
            return self._assembled(title)

    def _assembled(self, title: str) -> tuple[Page, bool]:
        """A page from as many answers as its links take."""
        asked = {
            "prop": "extracts|links|pageprops",
            "titles": title,
            "redirects": "1",
            "explaintext": "1",
            "plnamespace": "0",
            "pllimit": "max",
            "ppprop": "disambiguation",
        }
        more: dict[str, str] = {}
        text, fit = "", True
        links: dict[str, None] = {}
        for _ in range(_ANSWERS):
            answer = self._query(**asked, **more)
            found = answer.get("query", {}).get("pages") or [{"missing": True}]
            page = found[0]
            if page.get("missing") or page.get("invalid"):
                raise NoPage(f"{self.name} at {self.url} has no page {title!r}")
            text = text or page.get("extract", "")
            links.update(dict.fromkeys(link["title"] for link in page.get("links", ())))
            fit = fit and "disambiguation" not in page.get("pageprops", {})
            more = answer.get("continue", {})
            if not more:
                break
        links.pop(page["title"], None)
        return Page(page["title"], " ".join(text.split()), tuple(links)), fit

    @contextmanager
    def _shape(self) -> Iterator[None]:
        """Make an answer that is JSON, but not what the API would answer, an error that says so."""
        try:
            yield
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise DataError(
                f"{self.name} at {self.url} did not answer as one does ({problem}): check its url"
            ) from error

    def _random_title(self, rng: Random) -> str | None:
        prefix = "".join(_LETTERS[int(rng.random() * 26)] for _ in range(2)).capitalize()
        place = rng.random()
        for start in (prefix, "A", ""):
            answer = self._query(
                list="allpages", apfrom=start, apnamespace="0", apfilterredir="nonredirects", aplimit="50"
            )
            with self._shape():
                titles: list[str] = [page["title"] for page in answer.get("query", {}).get("allpages", ())]
            if titles:
                return titles[int(place * len(titles))]
        return None


# -- Kiwix ------------------------------------------------------------------------------------------------


class Kiwix(_Server):
    """A Kiwix server (``kiwix-serve``), which serves the pages of a ZIM file.

    Pages are drawn from its suggestions of titles, so that a seed finds the same ones again. A small or unindexed book
    may have no suggestions; then the server draws.
    """

    name = "the Kiwix server"
    advice = "start it with `kiwix-serve --port 8080 BOOK.zim`, set trawler_kwargs['url'], or play with backend='local'"

    def __init__(
        self,
        url: str = "http://localhost:8080",
        zimfile: str = "wikipedia_en_simple_all_nopic",
        **options: Any,
    ) -> None:
        super().__init__(url, **options)
        if not isinstance(zimfile, str) or not zimfile:
            raise ValueError(f"zimfile must be the name of a book, got {zimfile!r}")
        self.book = zimfile.removesuffix(".zim")
        below = urlsplit(self.url).path
        self._raw = f"{below}/raw/{self.book}/content/"
        #: Where pages are as they are stored; where newer, and where older servers show them in their own frame.
        self._prefixes = (self._raw, f"{below}/content/{self.book}/", f"{below}/{self.book}/")

    def _fetch(self, title: str) -> tuple[Page, bool]:
        name = title.replace(" ", "_")
        for _ in range(5):  # a page that only forwards to another one, or is shown in the server's frame
            address, answer = self._get(f"{self.url}/raw/{quote(self.book)}/content/{quote(name, errors='replace')}")
            article = _Article()
            article.feed(answer.decode("utf-8", "replace"))
            article.close()
            target = urljoin(address, article.forward) if article.forward else address
            name = self._title(target) or name
            if not article.forward and unquote(urlsplit(address).path).startswith(self._raw):
                break
        links: dict[str, None] = {}
        for target in article.targets:
            link = self._title(urljoin(address, target))
            if link is not None:
                links[link.replace("_", " ")] = None
        name = name.replace("_", " ")
        found = article.title or name
        for itself in (name, found):
            links.pop(itself, None)
        fit = "disambiguation" not in found.lower() and "may refer to:" not in article.text[:300]
        return Page(found, article.text, tuple(links)), fit

    def _title(self, address: str) -> str | None:
        """The title in the address of a page of this book; ``None`` for other addresses, pictures and the like."""
        parts = urlsplit(address)
        path = unquote(parts.path)
        if parts.scheme not in ("http", "https") or parts.netloc != urlsplit(self.url).netloc:
            return None
        for prefix in self._prefixes:
            if path.startswith(prefix):
                title = path[len(prefix) :].strip("/")
                return None if not title or _NO_ARTICLE.search(title) else title
        return None

    def _random_title(self, rng: Random) -> str | None:
        for _ in range(_TERMS):
            term = "".join(_LETTERS[int(rng.random() * 26)] for _ in range(2))
            place = rng.random()
            try:
                answer = self._json(
                    f"{self.url}/suggest?{urlencode({'content': self.book, 'term': term, 'count': '50'})}"
                )
            except DataError:  # no suggestions for this book
                break
            found = answer if isinstance(answer, list) else []
            titles = [one.get("path") for one in found if isinstance(one, dict) and one.get("kind") == "path"]
            if titles:
                title: str | None = titles[int(place * len(titles))]
                return title
        try:
            address, _ = self._get(f"{self.url}/random?{urlencode({'content': self.book})}")
        except NoPage:
            raise DataError(
                f"{self.name} at {self.url} has no book {self.book!r}: set trawler_kwargs['zimfile'] to one of "
                f"{self.url}/catalog/v2/entries"
            ) from None
        return self._title(address)


_NO_ARTICLE = re.compile(
    r"^(?:_|-/|I/)|^(?:File|Image|Category|Template|Help|Special|Portal|Wikipedia|Talk|User|Module|Draft):"
    r"|\.(?:png|jpe?g|gif|svg|webp|css|js|ogg|webm|pdf)$",
    re.IGNORECASE,
)

_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
#: Elements and classes whose text is not part of a page's.
_NO_TEXT = frozenset({"table", "figure", "style", "script", "sup"})
_NO_TEXT_CLASSES = frozenset(
    {"ambox", "hatnote", "infobox", "mw-editsection", "navbox", "sistersitebox", "thumb", "thumbinner", "toc"}
)


class _Article(HTMLParser):
    """What a page of a wiki holds: title, paragraphs, and the targets of its links."""

    def __init__(self) -> None:
        super().__init__()
        self.forward = ""
        self.targets: list[str] = []
        self._title = ""
        self._paragraphs: list[str] = []
        #: Open elements: name, and what its text is: a title, a paragraph, left out, or ``None`` for as around it.
        self._open: list[tuple[str, str | None]] = []

    @property
    def title(self) -> str:
        return " ".join(self._title.split())

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._paragraphs).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
            _, _, target = attributes.get("content", "").partition("=")
            self.forward = target.strip(" '\"")
        target = attributes.get("href", "").partition("#")[0]
        if tag == "a" and target:
            self.targets.append(target)
        if tag in _VOID:
            self.handle_data(" ")
            return
        if tag in _NO_TEXT or not _NO_TEXT_CLASSES.isdisjoint(attributes.get("class", "").split()):
            kind: str | None = "out"
        elif tag == "h1":
            kind = "title"
        elif tag == "p":
            kind = "paragraph"
            self._paragraphs.append(" ")
        else:
            kind = None
        self._open.append((tag, kind))

    def handle_endtag(self, tag: str) -> None:
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at][0] == tag:
                del self._open[at:]
                return

    def handle_data(self, data: str) -> None:
        kinds = {kind for _, kind in self._open}
        if "out" in kinds:
            return
        if "title" in kinds:
            self._title += data
        elif "paragraph" in kinds:
            self._paragraphs[-1] += data

"""Against small servers on this machine that answer in the formats of Kiwix and of MediaWiki."""

import json
import pickle
import random
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

import gem
from gem_games.wiki_game import WikiGame
from gem_games.wiki_pages import NoPage
from gem_games.wiki_servers import Kiwix, MediaWiki

BOOK = "wikipedia_en_test"


class Fake:
    """A server whose ``answer(path, query)`` gives status, headers and body; it counts the requests."""

    def __init__(self, answer):
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                parts = urlsplit(self.path)
                fake.requests.append(unquote(self.path))
                fake.agents.add(self.headers["User-Agent"])
                try:
                    status, headers, body = fake.answer(
                        unquote(parts.path), {k: v[0] for k, v in parse_qs(parts.query).items()}
                    )
                    data = body if isinstance(body, bytes) else body.encode()
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def log_message(self, *_):
                pass

        self.answer, self.requests, self.agents = answer, [], set()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def serve():
    fakes = []

    def start(answer):
        fakes.append(Fake(answer))
        return fakes[-1]

    yield start
    for fake in fakes:
        fake.close()


# -- Kiwix ------------------------------------------------------------------------------------------------


def article(title, body):
    return f"""<!DOCTYPE html><html><head><meta charset="UTF-8"><title>{title}</title>
<style>p {{ color: red }}</style><script>var p = "<p>no</p>";</script></head>
<body class="mw-body"><h1 id="firstHeading" class="firstHeading"><i>{title}</i></h1>
<div id="mw-content-text"><div class="mw-content-ltr mw-parser-output">{body}</div></div></body></html>"""


ARTICLES = {
    "Dog": article(
        "Dog",
        """<div class="hatnote">For the film, see <a href="Dog_(film)">elsewhere</a>.</div>
<table class="infobox"><tr><td>Rank: <a href="Species">species</a></td></tr></table>
<p>The <b>dog</b> is a <a href="Mammal">mammal</a>.<sup class="reference"><a href="#cite_note-1">[1]</a></sup>
It descends from the <a href="./Grey_wolf#Origin" title="Grey wolf">wolf</a> &amp; guards
<a href="Sheep">sheep</a><br>at night.</p>
<figure><img src="../I/dog.png"><figcaption><p>A dog</p></figcaption></figure>
<p>See <a href="https://example.org/dog">outside</a>, <a href="geo:1,2">a place</a>, <a href="File:Dog.ogg">a sound</a>,
<a href="_assets_/x.css">style</a>, <a href="Caf%C3%A9">a café</a>, <a href="Dog#Breeds">itself</a>.</p>""",
    ),
    "Mammal": article("Mammal", '<p>A mammal.</p><p><a href="Dog">Dog</a></p>'),
    "Grey_wolf": article("Grey wolf", '<p>Wolf.</p><a href="Dog">Dog</a>'),
    "AC/DC": article("AC/DC", '<p>A band.</p><a href="../Music">Music</a> <a href="../Dog">Dog</a>'),
    "Bat": article("Bat", '<p>Bat may refer to:</p><ul><li><a href="Mammal">Mammal</a></li></ul>'),
    "Stone": article("Stone", "<p>No links.</p>"),
    "Hound": '<html><head><title>Dog</title><meta http-equiv="refresh" content="0;URL=\'./Dog\'" /></head><body>'
    '<a href="./Dog">Dog</a></body></html>',
    "Music": article("Music", '<p>Music.</p><p><a href="Dog">Dog</a>'),  # paragraphs may stay open
}


def kiwix(path, query, suggestions=("Dog", "Mammal", "Stone", "Bat", "Hound"), shown=f"/content/{BOOK}/"):
    """What kiwix-serve answers; ``shown`` is where it shows pages in its own frame, as redirects do."""
    head = f"/raw/{BOOK}/content/"
    if path.startswith(head):
        name = path[len(head) :]
        if name == "Canine":
            return 302, {"Location": f"{shown}Dog"}, ""
        if name in ARTICLES:
            return 200, {"Content-Type": "text/html; charset=utf-8"}, ARTICLES[name]
        return 404, {"Content-Type": "text/html"}, "<html><body><h1>Not Found</h1></body></html>"
    if path == "/suggest" and query.get("content") == BOOK and suggestions is not None:
        found = [{"value": name, "label": f"<b>{name}</b>", "kind": "path", "path": name} for name in suggestions]
        term = query["term"]
        found.append({"value": f"{term} ", "label": f"containing '{term}'...", "kind": "pattern"})
        return 200, {"Content-Type": "application/json"}, json.dumps(found)
    if path == "/random" and query.get("content") == BOOK:
        return 302, {"Location": f"{shown}Mammal"}, ""
    if path.startswith(shown):
        return 200, {"Content-Type": "text/html"}, article("Frame", '<p>Search</p><a href="/other">Other</a>')
    return 404, {}, ""


@pytest.fixture
def kiwix_server(serve):
    return serve(kiwix)


def kiwix_pages(server, **options):
    return Kiwix(server.url, BOOK, query_delay_ms=0, **options)


def test_a_page_of_kiwix(kiwix_server):
    page = kiwix_pages(kiwix_server).page("Dog")
    assert page.title == "Dog"
    assert page.text == (
        "The dog is a mammal. It descends from the wolf & guards sheep at night. See outside, a place, a sound, style, "
        "a café, itself."
    )
    assert page.links == ("Dog (film)", "Species", "Mammal", "Grey wolf", "Sheep", "Café")
    assert all(agent.startswith("gem-games") for agent in kiwix_server.agents)


@pytest.mark.parametrize("title", ["Hound", "Canine"])
@pytest.mark.parametrize("shown", [f"/content/{BOOK}/", f"/{BOOK}/"])  # of newer and of older servers
def test_redirects_of_kiwix_are_followed(serve, title, shown):
    page = kiwix_pages(serve(lambda path, query: kiwix(path, query, shown=shown))).page(title)
    assert (page.title, page.links[2]) == ("Dog", "Mammal")


def test_titles_of_kiwix_with_blanks_and_slashes(kiwix_server):
    pages = kiwix_pages(kiwix_server)
    assert pages.page("Grey wolf").title == "Grey wolf"
    page = pages.page("AC/DC")
    assert (page.title, page.links) == ("AC/DC", ("Music", "Dog"))
    assert pages.page("Music").text == "Music. Dog"


def test_a_kiwix_server_below_a_path(serve):
    below = serve(lambda path, query: kiwix(path.removeprefix("/wiki"), query))
    page = Kiwix(f"{below.url}/wiki/", f"{BOOK}.zim", query_delay_ms=0).page("Mammal")
    assert (page.title, page.links) == ("Mammal", ("Dog",))


def test_pages_are_remembered(kiwix_server):
    pages = kiwix_pages(kiwix_server)
    assert pages.page("Dog") == pages.page("Dog")
    assert len(kiwix_server.requests) == 1
    forgetful = kiwix_pages(kiwix_server, query_use_cache=False)
    assert forgetful.page("Dog") == forgetful.page("Dog")
    assert len(kiwix_server.requests) == 3


def test_random_pages_of_kiwix_have_links_and_follow_the_seed(kiwix_server):
    titles = [kiwix_pages(kiwix_server).random_page(random.Random(seed)).title for seed in range(12)]
    assert set(titles) == {"Dog", "Mammal"}
    assert titles == [kiwix_pages(kiwix_server).random_page(random.Random(seed)).title for seed in range(12)]


@pytest.mark.parametrize("suggestions", [None, ()])
@pytest.mark.parametrize("shown", [f"/content/{BOOK}/", f"/{BOOK}/"])
def test_a_book_without_suggestions_gives_its_random_page(serve, suggestions, shown):
    server = serve(lambda path, query: kiwix(path, query, suggestions, shown))
    assert kiwix_pages(server).random_page(random.Random(0)).title == "Mammal"


def test_no_such_book_is_told(kiwix_server):
    with pytest.raises(gem.DataError, match=r"has no book 'other': set trawler_kwargs\['zimfile'\]"):
        Kiwix(kiwix_server.url, "other", query_delay_ms=0).random_page(random.Random(0))


def test_a_book_without_links_is_refused(serve):
    server = serve(lambda path, query: kiwix(path, query, suggestions=("Stone", "Bat", "Gone")))
    with pytest.raises(gem.DataError, match="gave no page with links"):
        kiwix_pages(server).random_page(random.Random(0))


def test_no_such_page_of_kiwix(kiwix_server):
    with pytest.raises(NoPage, match=r"Kiwix server at http://127.*has nothing at"):
        kiwix_pages(kiwix_server).page("Unicorn")


# -- MediaWiki --------------------------------------------------------------------------------------------

WIKI = {
    "Dog": ("The dog is a mammal.\n\n\n== Breeds ==\nMany.", ["Animal", "Mammal", "Sheep", "Wolf"]),
    "Mammal": ("A mammal has hair.", ["Dog"]),
    "Wolf": ("A wolf.", ["Dog", "Red link"]),
    "Bat": ("Bat may refer to:", ["Mammal"]),
    "Stone": ("No links.", []),
}


def mediawiki(path, query):
    """What api.php answers; links in batches of two."""
    assert (path, query["action"], query["format"], query["formatversion"]) == ("/w/api.php", "query", "json", "2")
    headers = {"Content-Type": "application/json; charset=utf-8"}
    if query.get("list") == "allpages":
        assert (query["apnamespace"], query["apfilterredir"]) == ("0", "nonredirects")
        titles = [title for title in sorted(WIKI) if title >= query["apfrom"]]
        found = [{"pageid": number, "ns": 0, "title": title} for number, title in enumerate(titles)]
        return 200, headers, json.dumps({"batchcomplete": True, "query": {"allpages": found}})
    title, answer = query["titles"], {}
    assert query["prop"] == "extracts|links|pageprops"
    if title == "Hound":
        assert query["redirects"]
        answer["redirects"], title = [{"from": "Hound", "to": "Dog"}], "Dog"
    if title == "<":
        answer["pages"] = [{"title": "<", "invalidreason": "The requested page title is not valid.", "invalid": True}]
        return 200, headers, json.dumps({"batchcomplete": True, "query": answer})
    if title not in WIKI:
        answer["pages"] = [{"ns": 0, "title": title, "missing": True}]
        return 200, headers, json.dumps({"batchcomplete": True, "query": answer})
    text, links = WIKI[title]
    begin = int(query.get("plcontinue", "0|0").split("|")[1])
    page = {"pageid": 7, "ns": 0, "title": title}
    if not begin:
        page["extract"] = text
    if links:
        page["links"] = [{"ns": 0, "title": link} for link in links[begin : begin + 2]]
    if title == "Bat":
        page["pageprops"] = {"disambiguation": ""}
    answer["pages"] = [page]
    whole = {"batchcomplete": True, "query": answer}
    if begin + 2 < len(links):
        whole = {"continue": {"plcontinue": f"7|{begin + 2}", "continue": "||extracts|pageprops"}, "query": answer}
    return 200, headers, json.dumps(whole)


def mediawiki_pages(server, **options):
    return MediaWiki(f"{server.url}/w/api.php", query_delay_ms=0, **options)


def test_a_page_of_mediawiki_in_several_answers(serve):
    page = mediawiki_pages(serve(mediawiki)).page("Dog")
    assert page == ("Dog", "The dog is a mammal. == Breeds == Many.", ("Animal", "Mammal", "Sheep", "Wolf"))


def test_redirects_of_mediawiki_are_followed(serve):
    assert mediawiki_pages(serve(mediawiki)).page("Hound").title == "Dog"


@pytest.mark.parametrize("title", ["Unicorn", "<", "\ud800"])
def test_no_such_page_of_mediawiki(serve, title):
    with pytest.raises(NoPage, match="has no page"):
        mediawiki_pages(serve(mediawiki)).page(title)


def test_random_pages_of_mediawiki_have_links_and_follow_the_seed(serve):
    pages = mediawiki_pages(serve(mediawiki))
    titles = [pages.random_page(random.Random(seed)).title for seed in range(20)]
    assert {"Dog", "Wolf"} <= set(titles) <= {"Dog", "Mammal", "Wolf"}
    assert titles == [pages.random_page(random.Random(seed)).title for seed in range(20)]


def test_an_error_of_the_api_is_told(serve):
    error = {"error": {"code": "readapidenied", "info": "You need read permission to use this module."}}
    server = serve(lambda path, query: (200, {}, json.dumps(error)))
    with pytest.raises(gem.DataError, match="refused the query: You need read permission"):
        mediawiki_pages(server).page("Dog")


@pytest.mark.parametrize(
    "body",
    [
        "<html>a portal</html>",
        "[]",
        "",
        '{"query": []}',
        '{"query": {"pages": [{"links": [7]}], "allpages": [{}]}}',
        '{"query": {"pages": {"7": {}}, "allpages": 7}}',
        '{"error": "no"}',
    ],
)
def test_an_answer_that_is_none_of_the_api_is_told(serve, body):
    pages = mediawiki_pages(serve(lambda path, query: (200, {}, body)))
    with pytest.raises(gem.DataError, match=r"check its url|refused the query"):
        pages.page("Dog")
    with pytest.raises(gem.DataError, match=r"check its url|refused the query"):
        pages.random_page(random.Random(0))


def test_a_page_whose_links_never_end_is_cut_off(serve):
    page = {"title": "Dog", "links": [{"title": "Wolf"}]}
    answer = json.dumps({"continue": {"plcontinue": "x"}, "query": {"pages": [page]}})
    server = serve(lambda path, query: (200, {}, answer))
    assert mediawiki_pages(server).page("Dog").links == ("Wolf",)
    assert len(server.requests) == 20


# -- servers that fail ------------------------------------------------------------------------------------


def unused_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize(
    ("backend", "advice"),
    [
        ("kiwix", "the Kiwix server at .* start it with `kiwix-serve"),
        ("mw", "the MediaWiki API at .* check the network"),
    ],
)
def test_no_server_is_told_in_one_line_with_what_to_do(backend, advice):
    env = WikiGame(backend=backend, trawler_kwargs={"url": f"http://127.0.0.1:{unused_port()}"})
    with pytest.raises(gem.MissingDependency, match=advice) as caught:
        env.reset(seed=0)
    assert "\n" not in str(caught.value)
    with pytest.raises(gem.ResetNeeded):
        env.step("\\boxed{Dog}")


def test_a_busy_server_is_asked_again(serve):
    states = iter([503, 429])

    def busy(path, query):
        status = next(states, None)
        return (status, {}, "busy") if status else kiwix(path, query)

    assert kiwix_pages(serve(busy)).page("Dog").title == "Dog"


def test_a_server_that_stays_busy_is_given_up(serve):
    server = serve(lambda path, query: (503, {}, "busy"))
    with pytest.raises(gem.MissingDependency, match="HTTP status 503"):
        kiwix_pages(server, max_query_attempts=2).page("Dog")
    assert len(server.requests) == 2


def test_a_refusal_is_not_repeated(serve):
    server = serve(lambda path, query: (403, {}, "no"))
    with pytest.raises(gem.MissingDependency, match="HTTP status 403"):
        kiwix_pages(server).page("Dog")
    assert len(server.requests) == 1


def test_a_server_that_does_not_answer_is_given_up(serve):
    hang = threading.Event()

    def answer(path, query):
        hang.wait(60)
        return 200, {}, ""

    server = serve(answer)
    try:
        with pytest.raises(gem.MissingDependency, match="timed out"):
            kiwix_pages(server, timeout=0.1, max_query_attempts=2).page("Dog")
    finally:
        hang.set()
    deadline = time.monotonic() + 30
    while len(server.requests) < 2:  # on a busy machine the server reads them after the client has given up
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(server.requests) == 2


def test_an_answer_that_breaks_off_is_asked_for_again(serve):
    answers = iter([(200, {"Content-Length": "100000"}, "<html>")])

    def cut(path, query):
        return next(answers, None) or kiwix(path, query)

    assert kiwix_pages(serve(cut), timeout=30).page("Dog").title == "Dog"


@pytest.mark.parametrize("page", [b"", b"\xff\xfe", b"<p>" * 5000, b"</p></div>", b"<a href=><h1><p>x", b"<!-- "])
def test_odd_pages_do_not_raise(serve, page):
    server = serve(lambda path, query: (200, {}, page))
    assert kiwix_pages(server).page("Dog").links == ()


@pytest.mark.parametrize(
    ("server", "options", "message"),
    [
        (Kiwix, {"url": "file:///etc/passwd"}, "url must be an http or https address"),
        (Kiwix, {"url": "localhost:8080"}, "url must be"),
        (Kiwix, {"url": None}, "url must be"),
        (Kiwix, {"zimfile": ""}, "zimfile must be the name of a book"),
        (MediaWiki, {"query_delay_ms": -1}, "query_delay_ms"),
        (MediaWiki, {"max_query_attempts": 0}, "max_query_attempts"),
        (MediaWiki, {"query_use_cache": "no"}, "query_use_cache"),
        (MediaWiki, {"timeout": 0}, "timeout must be a positive number"),
    ],
)
def test_impossible_options(server, options, message):
    with pytest.raises(ValueError, match=message):
        server(**options)


# -- the game ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "answer", "path"), [("kiwix", kiwix, ""), ("mw", mediawiki, "/w/api.php")])
def test_an_episode_over_a_server(serve, backend, answer, path):
    options = {"url": serve(answer).url + path, "query_delay_ms": 0}
    if backend == "kiwix":
        options["zimfile"] = BOOK
    env = gem.make("game:WikiGame-v0-easy", backend=backend, trawler_kwargs=options)
    prompts = [env.reset(seed=3), env.reset(seed=3)]
    assert prompts[0] == prompts[1]
    env.reset(seed=0, options={"start": "Mammal", "goal": "Dog"})
    env = pickle.loads(pickle.dumps(env))
    state = env.get_state()
    assert env.step("\\boxed{Unicorn}")[4]["invalid_action"]
    _, reward, terminated, _, info = env.step("\\boxed{dog}")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    env.set_state(state)
    assert env.step(env.sample_random_action())[1] == 1.0


def test_a_red_link_of_a_wiki(serve):
    server = serve(mediawiki)
    env = WikiGame(backend="mw", trawler_kwargs={"url": f"{server.url}/w/api.php", "query_delay_ms": 0})
    env.reset(options={"start": "Wolf", "goal": "Mammal"})
    assert env.step("\\boxed{Red link}")[4]["invalid_action"] == "the link to Red link leads to no page"

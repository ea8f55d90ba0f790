import random
import subprocess
import sys
from pathlib import Path

import pytest

import gem
import gem_games
from gem_games.wiki_pages import LocalPages, NoPage, distances, graph, shortened


def test_every_link_leads_to_a_page_and_every_page_to_every_other():
    pages = graph()
    assert len(pages) >= 150
    for title, page in pages.items():
        assert page.title == title
        assert set(page.links) <= set(pages)
        assert title not in page.links
        assert len(set(page.links)) == len(page.links) >= 2
        assert "[" not in page.text
        assert len(distances(title)) == len(pages)


def test_distances_are_those_of_shortest_ways():
    pages, goal = graph(), "Tea"
    clicks = distances(goal)
    assert clicks[goal] == 0
    for title, page in pages.items():
        if title != goal:
            assert clicks[title] == 1 + min(clicks[link] for link in page.links)


def test_pages_are_found_by_title():
    page = LocalPages().page("Dog")
    assert page.text.startswith("The dog is a mammal that descends from the wolf.")
    assert page.links[:2] == ("Mammal", "Wolf")
    with pytest.raises(NoPage, match="no page 'Unicorn'"):
        LocalPages().page("Unicorn")
    assert issubclass(NoPage, gem.DataError)


def test_random_pages_come_from_the_generator():
    drawn = [LocalPages().random_page(random.Random(seed)).title for seed in range(50)]
    assert drawn == [LocalPages().random_page(random.Random(seed)).title for seed in range(50)]
    assert len(set(drawn)) > 20


@pytest.mark.parametrize(
    ("count", "unit", "short"),
    [
        (9, "characters", "One. Two ..."),
        (0, "characters", ""),
        (0, "sentences", ""),
        (2, "words", "One. Two ..."),
        (1, "sentences", "One. ..."),
        (2, "sentences", "One. Two three! ..."),
        (3, "sentences", "One. Two three! Four?"),
        (4, "words", "One. Two three! Four?"),
        (21, "characters", "One. Two three! Four?"),
        (10**9, "characters", "One. Two three! Four?"),
    ],
)
def test_texts_are_shortened_by_units(count, unit, short):
    assert shortened("One. Two three! Four?", count, unit) == short


def test_the_pages_name_their_source_and_are_read_when_asked_for():
    head = Path(gem_games.__path__[0], "data", "wiki_pages.txt").read_text("ascii").split("\n")[1]
    assert head.startswith("# Written for GEM; licence: Apache-2.0")
    code = (
        "import sys, gem; env = gem.make('game:WikiGame-v0-easy'); import gem_games.wiki_pages as w\n"
        "assert not w.graph.cache_info().currsize\n"
        "env.reset(seed=0); print('gem_games.wiki_servers' in sys.modules, 'urllib.request' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False False\n", done.stderr

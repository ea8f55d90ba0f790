import pickle

import pytest

import gem
from gem_games.base import NoSolution
from gem_games.wiki_game import BACK, WikiGame
from gem_games.wiki_pages import NoPage, Page, distances, graph

#: A small world with a dead end, a link to nowhere, a redirect, and titles that are hard to write.
WORLD = {
    page.title: page
    for page in (
        Page("Home", "Home is where it begins.", ("Rock_'n'_Roll (song)", "C++", "Pit", "Nowhere", "Old name", "Room")),
        Page("Room", "A room.", ("Home", "Goal")),
        Page("Pit", "A dead end.", ()),
        Page("C++", "A language.", ("Room",)),
        Page("Rock_'n'_Roll (song)", "A song.", ("Home",)),
        Page("Goal", "The end.", ("Home",)),
    )
}


class World:
    """The small world as a source of pages, which can be out of reach."""

    reachable = True

    def page(self, title):
        if not self.reachable:
            raise gem.MissingDependency("out of reach")
        title = {"Old name": "Goal"}.get(title, title)
        if title not in WORLD:
            raise NoPage(title)
        return WORLD[title]

    def random_page(self, rng):
        return WORLD[rng.choice(["Home", "Room", "Goal"])]


def start(variant="noregrets", **options):
    env = WikiGame(variant=variant, **options)
    env.pages = World()
    env.reset(seed=0, options={"start": "Home", "goal": "Goal"})
    return env


def go(env, title):
    return env.step("\\boxed{" + title + "}")


def test_from_page_to_page_to_the_goal():
    env = start()
    _, info = env.reset(seed=0, options={"start": "Home", "goal": "Goal"})
    assert "Goal: Goal. The end." in info["suffix"]
    assert "Page: Home. Home is where it begins." in info["suffix"]
    assert "\n- C++\n- Pit\n" in info["suffix"]
    observation, reward, terminated, truncated, info = go(env, "Room")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert "you are on Room" in observation
    assert "Links:\n- Home\n- Goal\n" in info["suffix"]
    observation, reward, terminated, truncated, info = go(env, "Goal")
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)


def test_reset_options_are_a_dictionary():
    with pytest.raises(TypeError, match="reset options must be a dict, got 3"):
        start().reset(options=3)


def test_a_redirect_to_the_goal_wins():
    _, reward, terminated, _, info = go(start(), "Old name")
    assert (reward, terminated, info["success"]) == (1.0, True, True)


@pytest.mark.parametrize("title", ["room", "ROOM", " Room. ", "\\text{Room}", "'Room'", "[[Room]]", "$Room$"])
def test_harmless_ways_to_write_a_title(title):
    env = start()
    go(env, title)
    assert env.page == "Room"


@pytest.mark.parametrize("title", ["C++", "c++"])
def test_titles_with_signs(title):
    env = start()
    go(env, title)
    assert env.page == "C++"


@pytest.mark.parametrize("title", ["Rock_'n'_Roll (song)", "Rock 'n' Roll (song)", "rock\\_'n'\\_roll (song)"])
def test_titles_with_underscores(title):
    env = start()
    go(env, title)
    assert env.page == "Rock_'n'_Roll (song)"


def test_two_links_that_differ_in_writing_only_are_told_apart():
    env = start()
    env.links = ("Room", "ROOM")
    assert "is no link" in go(env, "room")[4]["invalid_action"]
    go(env, "Room")
    assert env.page == "Room"


@pytest.mark.parametrize("title", ["Goal", "Home", "7", "-1", "٣", "\ud800", "x" * 5000, BACK])
def test_what_is_no_link_is_invalid(title):
    env = start()
    observation, reward, terminated, truncated, info = go(env, title)
    assert (reward, terminated, truncated, env.page) == (0.0, False, False, "Home")
    assert len(info["invalid_action"]) < 200
    assert observation.encode()


@pytest.mark.parametrize("action", ["Room", "\\boxed{}", "\\boxed{  }", "\\boxed{Room"])
def test_responses_without_a_title(action):
    assert start().step(action)[1:4] == (-0.1, True, False)


def test_a_link_to_no_page_is_invalid_and_goes():
    env = start()
    _, reward, terminated, _, info = go(env, "Nowhere")
    assert (reward, terminated) == (0.0, False)
    assert info["invalid_action"] == "the link to Nowhere leads to no page"
    assert "Nowhere" not in info["suffix"]


@pytest.mark.parametrize("variant", ["noregrets", "eidetic"])
def test_no_way_back_and_a_dead_end_loses(variant):
    env = start(variant)
    go(env, "Room")
    assert go(env, BACK)[4]["invalid_action"] == "there is no way back in this variant"
    go(env, "Home")
    observation, reward, terminated, truncated, info = go(env, "Pit")
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert "Pit has no links" in observation


@pytest.mark.parametrize("back", [BACK, "<prev_page>", "<PREV\\_PAGE>", "\\text{<PREV_PAGE>}", "<PREV PAGE>"])
def test_freenav_goes_back_as_often_as_there_are_pages(back):
    env = start("freenav")
    go(env, "C++")
    go(env, "Room")
    assert go(env, back)[4]["suffix"].split("Page: ")[1].startswith("C++")
    assert go(env, back)[1] == 0.0
    assert env.page == "Home"
    assert go(env, back)[4]["invalid_action"] == "there is no page before this one"


def test_oneback_goes_back_but_not_twice_in_a_row():
    env = start("oneback")
    assert go(env, BACK)[4]["invalid_action"] == "there is no page before this one"
    go(env, "C++")
    go(env, "Room")
    assert "invalid_action" not in go(env, BACK)[4]
    assert env.page == "C++"
    assert go(env, BACK)[4]["invalid_action"] == "going back twice in a row is not allowed"
    go(env, "Room")
    assert "invalid_action" not in go(env, BACK)[4]
    assert env.page == "C++"


@pytest.mark.parametrize("variant", ["oneback", "freenav"])
def test_a_dead_end_sends_back(variant):
    env = start(variant)
    go(env, "C++")
    go(env, "Room")
    go(env, "Home")
    observation, reward, terminated, truncated, _ = go(env, "Pit")
    assert (reward, terminated, truncated, env.page) == (0.0, False, False, "Home")
    assert "Pit has no links, so you are back on Home" in observation
    refused = "invalid_action" in go(env, BACK)[4]
    assert (refused, env.page) == ((True, "Home") if variant == "oneback" else (False, "Room"))


def test_eidetic_remembers_pages_and_links():
    env = start("eidetic")
    _, _, _, _, info = go(env, "Room")
    assert "- C++\n" in info["suffix"]
    assert "- Room" not in info["suffix"]
    go(env, "C++")
    assert env.page == "C++"
    assert go(env, "Old name")[2]
    env = start()
    go(env, "Room")
    assert "C++" in go(env, "C++")[4]["invalid_action"]


@pytest.mark.parametrize(
    ("length", "shown"),
    [((2, "words"), "Page: Home. Home is ...\n"), ([4, "characters"], "Home ...\n"), ((1, "sentences"), "begins.\n")],
)
def test_how_much_of_a_page_is_shown(length, shown):
    assert shown in start(page_summary_length=length).board()


def test_a_win_on_the_last_turn_and_the_turn_limit():
    env = start(max_turns=2)
    go(env, "Room")
    assert go(env, "Goal")[1:4] == (1.0, True, False)
    env = start(max_turns=2)
    go(env, "Room")
    _, reward, terminated, truncated, info = go(env, "Home")
    assert (reward, terminated, truncated, info["success"]) == (0.0, False, True, False)


def test_pages_out_of_reach_cost_no_turn(monkeypatch):
    env = start("freenav")
    go(env, "Room")
    monkeypatch.setattr(World, "reachable", False)
    for title in ("Goal", BACK):
        with pytest.raises(gem.MissingDependency):
            go(env, title)
        assert (env.turn, env.page) == (1, "Room")
    with pytest.raises(gem.MissingDependency):
        env.reset(options={"start": "Home"})
    with pytest.raises(gem.ResetNeeded):
        go(env, "Goal")


def test_start_and_goal_are_drawn_apart_and_in_reach():
    for turns in (1, 3, 15):
        env = WikiGame(turns)
        for seed in range(40):
            env.reset(seed=seed)
            assert min(2, turns) <= distances(env.goal)[env.page] <= turns


def test_start_or_goal_may_be_asked_for():
    env = WikiGame(15)
    env.reset(seed=1, options={"start": "Dog"})
    assert env.page == "Dog"
    env.reset(seed=1, options={"goal": "Tea"})
    assert env.goal == "Tea"
    env.reset(seed=1, options={"start": "Tea", "goal": "China"})
    assert (env.page, env.goal) == ("Tea", "China")
    env.reset(seed=1)
    other = env.page, env.goal
    env.reset(seed=1, options={})
    assert (env.page, env.goal) == other
    with pytest.raises(ValueError, match="must be different pages"):
        env.reset(options={"start": "Dog", "goal": "Dog"})
    with pytest.raises(TypeError, match="must be titles of pages, got 7"):
        env.reset(options={"start": 7})
    with pytest.raises(NoPage, match="no page 'Unicorn'"):
        env.reset(options={"goal": "Unicorn"})


@pytest.mark.parametrize("variant", ["noregrets", "oneback", "freenav", "eidetic"])
def test_the_solver_takes_a_shortest_way(assert_solved, variant):
    env = WikiGame(15, variant=variant)
    assert_solved(env, range(40))
    env.reset(seed=1)
    clicks = distances(env.goal)[env.page]
    while env.playing:
        env.step(env.solve())
    assert env.turn == clicks


def test_the_solver_says_when_it_is_too_late_and_knows_no_servers():
    env = WikiGame(4)
    env.reset(seed=0, options={"start": "Tea", "goal": "China"})
    for title in ("Ship", "Ocean", "Whale"):
        env.links = (*env.links, title)
        go(env, title)
    with pytest.raises(NoSolution, match="more clicks away"):
        env.solve()
    with pytest.raises(NotImplementedError, match="pages of a server"):
        start().solve()


def test_states_and_pickles_keep_the_place():
    env = WikiGame(15, variant="freenav")
    env.reset(seed=5)
    env.step(env.solve())
    state, page = env.get_state(), env.page
    env.step(env.solve())
    env.set_state(state)
    assert env.page == page
    twin = pickle.loads(pickle.dumps(env))
    assert twin.step(twin.solve()) == env.step(env.solve())


def test_prompts_say_what_the_variant_allows():
    for variant, part in (("noregrets", "no way back"), ("oneback", "not twice in a row"), ("eidetic", "remember")):
        assert part in WikiGame(variant=variant).reset(seed=0)[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_turns": 0}, "max_turns"),
        ({"variant": "regrets"}, "variant must be one of 'noregrets', 'oneback', 'freenav', 'eidetic', got 'regrets'"),
        ({"page_summary_length": 5}, "page_summary_length must be a number and a unit"),
        ({"page_summary_length": (-1, "words")}, "page_summary_length"),
        ({"page_summary_length": (5, "lines")}, "'words', 'characters', 'sentences', got 'lines'"),
        ({"backend": "web"}, "backend must be one of 'local', 'kiwix', 'mw', got 'web'"),
        ({"trawler_kwargs": {"url": "http://x"}}, "'local' takes none"),
        ({"backend": "mw", "trawler_kwargs": {"link": 1}}, "trawler_kwargs for 'mw'.*link"),
        ({"backend": "mw", "trawler_kwargs": "http://x"}, "must be a dict"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        WikiGame(**options)


def test_the_encyclopedia_has_the_pages_of_the_examples():
    assert {"Dog", "Tea"} <= set(graph())

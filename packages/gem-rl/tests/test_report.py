"""The page of episodes: self-contained, complete, and safe whatever an episode says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import episode

from gem.rollout import Episode, Response, TaskSpec
from gem_rl.report import write_report
from gem_rl.run_folder import RunFolder

Make = Callable[..., Any]


def page(folder: RunFolder, config: Any, results: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    write_report(folder.path / "page.html", folder, config, results or {})
    text = (folder.path / "page.html").read_text(encoding="utf-8")
    data = re.search(r"const data = (.*);\n", text)
    assert data is not None
    return text, json.loads(data[1])


@pytest.fixture
def folder(tmp_path: Path, small: Make) -> RunFolder:
    return RunFolder.create(tmp_path / "run", small())


def test_turns_have_observation_response_reward_return_and_advantage(folder: RunFolder, small: Make) -> None:
    folder.write_episodes("step-000007", [episode([0.0, 1.0])], [[0.25, 0.5]])
    _, data = page(folder, small(gamma=0.5))
    (shown,) = data["sets"]
    assert shown["name"] == "training step 7"
    first, second = shown["episodes"][0]["turns"]
    assert first == {
        "observation": "look",
        "response": "say",
        "reward": 0.0,
        "return": 0.5,
        "advantage": 0.25,
        "invalid": None,
        "cut": False,
    }
    assert (second["return"], second["advantage"]) == (1.0, 0.5)


def test_held_out_episodes_are_judged_as_one_batch(folder: RunFolder, small: Make) -> None:
    folder.write_episodes("after", [episode([1.0]), episode([0.0])], None)
    _, data = page(folder, small(algorithm="rebn"))
    assert [e["turns"][0]["advantage"] for e in data["sets"][0]["episodes"]] == [1.0, -1.0]
    _, data = page(folder, small(algorithm="grpo", group_size=2))
    assert data["sets"][0]["episodes"][0]["turns"][0]["advantage"] is None


def test_sets_stand_in_order_and_long_ones_are_cut(folder: RunFolder, small: Make) -> None:
    for name in ("after", "step-000002", "before"):
        folder.write_episodes(
            name, [episode([1.0]) for _ in range(70)], None if name != "step-000002" else [[1.0]] * 70
        )
    _, data = page(folder, small())
    assert [s["name"] for s in data["sets"]] == ["before training", "training step 2", "after training"]
    assert [(s["count"], len(s["episodes"])) for s in data["sets"]] == [(70, 60)] * 3


def test_nothing_is_fetched_from_elsewhere(folder: RunFolder, small: Make) -> None:
    folder.write_episodes("after", [episode([1.0])], None)
    (folder.path / "curve.png").write_bytes(b"\x89PNG")
    text, data = page(folder, small())
    assert data["picture"] == "iVBORw=="
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert "@import" not in text
    assert "url(" not in text


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "<!-- <script>", "/*DATA*/null", "\u2028 \U0001f600", "& < > \"'"]
)
def test_what_an_episode_says_stays_text(folder: RunFolder, small: Make, text: str) -> None:
    made = Episode(TaskSpec("toy:Guess-v0"))
    made.begin(text)
    made.respond(Response(text))
    made.advance(text, 1.0, True, False, {"invalid_action": text})
    folder.write_episodes("after", [made], None)
    html, data = page(folder, small())
    turn = data["sets"][0]["episodes"][0]["turns"][0]
    assert (turn["observation"], turn["response"], turn["invalid"]) == (text, text, text)
    assert html.count("</script>") == 1


def test_a_lone_surrogate_does_not_break_the_page(folder: RunFolder, small: Make) -> None:
    made = Episode(TaskSpec("toy:Guess-v0"))
    made.begin("look")
    made.respond(Response("bad \ud800 text"))
    made.advance("end", 1.0, True, False, {})
    folder.write_episodes("after", [made], None)
    page(folder, small())


def test_an_episode_of_messages_shows_the_last_one(folder: RunFolder, small: Make) -> None:
    made = Episode(TaskSpec("toy:Guess-v0"))
    made.begin([{"role": "user", "content": "first"}, {"role": "user", "content": "latest"}])
    made.respond(Response("x"))
    made.advance("end", 1.0, True, False, {})
    folder.write_episodes("after", [made], None)
    assert page(folder, small())[1]["sets"][0]["episodes"][0]["turns"][0]["observation"] == "latest"

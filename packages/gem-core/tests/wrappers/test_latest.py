"""The newest observation alone."""

from __future__ import annotations

from gem.wrappers import Latest


def test_prefix_and_suffix_are_placed_and_history_is_not_shown(scripted):
    steps = [("Higher.", 0.0, False, False, {"suffix": "Guess again."}), ("Lower.", 1.0, True, False, {})]
    env = Latest(scripted(steps, first="Guess a number.", info={"prefix": "Game: ", "suffix": "Your guess?"}))
    observation, info = env.reset(seed=3)
    assert observation == "Game: Guess a number.\nYour guess?"
    assert info == {"prefix": "Game: ", "suffix": "Your guess?"}
    assert env.step("5")[0] == "Higher.\nGuess again."
    assert env.step("3") == ("Lower.\n", 1.0, True, False, {})


def test_parts_keep_their_images(scripted):
    image = {"type": "image", "image": "data:,"}
    first = [image, {"type": "text", "text": "What is this?"}]
    env = Latest(scripted(first=first, info={"suffix": "Answer in a box."}))
    observation, _ = env.reset()
    assert observation == [image, {"type": "text", "text": "What is this?\nAnswer in a box."}]
    assert first[1]["text"] == "What is this?"  # the environment's own list is as it was

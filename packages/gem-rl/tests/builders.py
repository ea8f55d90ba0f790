"""Episodes written by hand, without environment or policy."""

from __future__ import annotations

from gem.rollout import Episode, Response, TaskSpec


def episode(
    rewards: list[float],
    *,
    group: str = "0",
    truncated: bool = False,
    ids: list[tuple[list[int], list[int]]] | None = None,
    invalid: str | None = None,
) -> Episode:
    """An episode with these rewards; ``ids`` are its (prompt ids, response ids), by default a growing conversation."""
    made = Episode(TaskSpec("toy:Guess-v0"), group_id=group)
    made.begin("look")
    prompt = [1, 2]
    for number, reward in enumerate(rewards):
        last = number == len(rewards) - 1
        prompt_ids, response_ids = ids[number] if ids else (prompt, [7, 9])
        made.respond(Response("say", list(prompt_ids), list(response_ids), [-0.5] * len(response_ids)))
        info = {"invalid_action": invalid} if invalid else {}
        made.advance("look", reward, last and not truncated, last and truncated, info)
        prompt = [*prompt, 7, 9, 3]
    return made

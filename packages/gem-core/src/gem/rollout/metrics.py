"""What a batch of episodes comes to, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from gem.rollout.episode import Episode


def summarise(episodes: Sequence[Episode], errors: Sequence[Episode], seconds: float | None = None) -> dict[str, float]:
    """The metrics of a rollout.

    Averages are over ``episodes`` alone: one that errored is counted in ``errors`` and never scored 0. Metrics of
    the environments (``info["metrics"]``) come out as ``metrics/<name>``: the last value an episode reported,
    averaged over the episodes that reported one.

    Args:
        seconds: wall-clock time the rollout took, for the rates.
    """
    count = len(episodes)
    turns = [turn for episode in episodes for turn in episode.turns]
    returns = [episode.total_reward for episode in episodes]
    successes = [episode.success for episode in episodes if episode.success is not None]
    metrics: dict[str, float] = {
        "episodes": float(count),
        "errors": float(len(errors)),
        "turns": float(len(turns)),
        "invalid_actions": float(sum(1 for turn in turns if turn.info.get("invalid_action"))),
        "format_errors": float(sum(1 for turn in turns if turn.info.get("format_error"))),
        "length_responses": float(sum(1 for turn in turns if turn.finish_reason == "length")),
        "length_episodes": float(sum(1 for episode in episodes if episode.finish_reason == "length")),
        "truncated_episodes": float(sum(1 for episode in episodes if episode.finish_reason in ("truncated", "length"))),
        "prompt_tokens": float(sum(len(turn.prompt_ids) for turn in turns if turn.prompt_ids is not None)),
        "response_tokens": float(sum(episode.response_tokens for episode in episodes)),
    }
    if count:
        mean = sum(returns) / count
        metrics["mean_return"] = mean
        metrics["std_return"] = (sum((value - mean) ** 2 for value in returns) / count) ** 0.5
        metrics["mean_turns"] = len(turns) / count
    if turns:
        metrics["invalid_action_rate"] = metrics["invalid_actions"] / len(turns)
    if successes and any("success" in episode.info for episode in episodes):
        metrics["success_rate"] = sum(successes) / len(successes)
    reported: dict[str, list[float]] = {}
    for episode in episodes:
        last: dict[str, float] = {}
        for turn in episode.turns:
            last.update(turn.info.get("metrics", ()))
        for name, value in last.items():
            reported.setdefault(name, []).append(float(value))
    for name, values in sorted(reported.items()):
        metrics[f"metrics/{name}"] = sum(values) / len(values)
    if seconds is not None:
        metrics["seconds"] = seconds
        if seconds > 0:
            metrics["turns_per_second"] = len(turns) / seconds
            metrics["response_tokens_per_second"] = metrics["response_tokens"] / seconds
    return metrics

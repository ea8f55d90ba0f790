"""An environment of your own: twenty lines, checked by the conformance kit, played by a policy."""

import gem
from gem.rollout import Collector
from gem.testing import check_env


class ReverseTheWord(gem.Env):
    """Spell a word backwards."""

    word: str | None = None

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.word = "".join(self.rng.choice("abcdefgh") for _ in range(5))
        return f"Spell {self.word!r} backwards, inside \\boxed{{}}.", {}

    def step(self, action):
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, got {action!r}")
        if self.word is None:
            raise gem.ResetNeeded
        answer, self.word = self.word[::-1], None
        success = f"\\boxed{{{answer}}}" in action
        return "", float(success), True, False, {"success": success}

    def sample_random_action(self):
        return "\\boxed{" + "".join(self.rng.choice("abcdefgh") for _ in range(5)) + "}"


def reverse(observations):
    return [f"\\boxed{{{o.split(chr(39))[1][::-1]}}}" for o in observations]


def main() -> None:
    gem.register("my:ReverseTheWord-v0", ReverseTheWord)
    for violation in check_env("my:ReverseTheWord-v0", backends=("sync", "thread")):
        print(violation)
    with Collector("my:ReverseTheWord-v0", num_envs=4) as collector:
        rollouts = collector.collect(reverse, seeds=range(16))
    print(rollouts.metrics)
    assert all(episode.success for episode in rollouts.episodes)


if __name__ == "__main__":
    main()

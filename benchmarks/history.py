"""What history costs: CPU time of an episode whose observations carry all of it, beside the published package.

    python benchmarks/history.py --published PATH/TO/PYTHON

Both packages play the same environment, which does nothing but return the same text, with the same responses. A form's
time is that of the whole episode, environment and all; ``net`` leaves out what the environment costs without a wrapper.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from _harness import Contender, Numbers, Row, main

TURNS = 1000
OBSERVATION = "At turn 12, you guessed 17, and the target number is higher than 17."
RESPONSE = "It lies between 18 and 33, so I halve what is left: \\boxed{25}"

#: form -> our wrapper, the published one it is held against, and how many times less CPU is asked of it
FORMS: dict[str, tuple[str, str, float | None]] = {
    "observations as text": ("concat", "concat", 3.0),
    "observations and responses as text": ("concat_with_action", "concat_with_action", 3.0),
    "chat template as text": ("concat_chat", "concat_chat", None),
    "messages": ("messages", "concat_with_action", 500.0),
    "messages, a suffix each turn": ("messages, suffix", "concat_with_action, suffix", None),
}


class ChatML:
    """A tokenizer with a chat template and nothing else."""

    def apply_chat_template(self, conversation: Any, tokenize: bool, add_generation_prompt: bool) -> str:
        text = "".join([f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in conversation])
        return text + "<|im_start|>assistant\n" if add_generation_prompt else text


def measure(base: type, wrappers: dict[str, Callable[[Any], Any]]) -> Numbers:
    """CPU milliseconds of one episode by wrapper, the least of several, and of one without a wrapper."""

    class Still(base):  # type: ignore[misc]
        def __init__(self, info: dict[str, Any]) -> None:
            self.info = info

        def reset(self, seed: int | None = None, **kwargs: Any) -> tuple[str, dict[str, Any]]:
            return OBSERVATION, {}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            return OBSERVATION, 0.0, False, False, self.info

    def episode(env: Any) -> float:
        begun = time.process_time()
        env.reset()
        step = env.step  # looked up once, as vector execution does
        for _ in range(TURNS):
            step(RESPONSE)
        return 1e3 * (time.process_time() - begun)

    numbers = {"bare": min(episode(Still({})) for _ in range(30))}
    for name, wrap in wrappers.items():
        env = wrap(Still({"suffix": "Enter your guess."} if name.endswith("suffix") else {}))
        first = episode(env)
        numbers[name] = min([first, *(episode(env) for _ in range(max(1, min(30, int(200 / first)))))])
    return numbers


def ours() -> Numbers:
    from gem import Env
    from gem.wrappers import get_wrapper_fns

    names = [name for name, _, _ in FORMS.values()]
    return measure(Env, {name: get_wrapper_fns(name.split(",")[0], tokenizer=ChatML())[0] for name in names})


def published() -> Numbers:
    from gem.core import Env  # its table of wrapper names would import every tool it has
    from gem.wrappers.observation_wrapper import ObservationWrapper

    plain = partial(ObservationWrapper, include_chat_template=False)
    wrappers: dict[str, Callable[[Any], Any]] = {
        "concat": partial(plain, include_action=False),
        "concat_with_action": partial(plain, include_action=True),
        "concat_with_action, suffix": partial(plain, include_action=True),
        "concat_chat": partial(ObservationWrapper, tokenizer=ChatML()),
    }
    return measure(Env, wrappers)


def report(numbers: dict[str, Numbers]) -> list[Row]:
    own, theirs = numbers["ours"], numbers.get("published")
    rows = [Row("without a wrapper", f"{own['bare']:.3f} ms")]
    for form, (name, other, asked) in FORMS.items():
        if theirs is None:
            rows.append(Row(form, f"{own[name]:.3f} ms"))
            continue
        times = theirs[other] / own[name]
        net = (theirs[other] - theirs["bare"]) / (own[name] - own["bare"])
        measured = f"{own[name]:.3f} ms, published {theirs[other]:.1f} ms: {times:.0f} times less (net {net:.0f})"
        wanted = "" if asked is None else f"{asked:g} times less"
        rows.append(Row(form, measured, wanted, None if asked is None else times >= asked))
    return rows


if __name__ == "__main__":
    contenders = {"ours": Contender(ours), "published": Contender(published, published=True)}
    main(f"CPU of an episode of {TURNS:,} turns", contenders, report, repeats=3)

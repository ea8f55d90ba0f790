"""What history costs: CPU time of an episode whose observations carry all of it, beside the published package.

    python benchmarks/history.py --published PATH/TO/PYTHON

The published package (``gem-llm`` 0.1.0) runs in an interpreter of its own, ``--published``; without it, a virtual
environment is made for the time of the run. Both play the same environment, which does nothing but return the same
texts, with the same responses; runs alternate, and the smallest CPU time of each counts. ``net`` leaves out what the
environment costs without a wrapper.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

OBSERVATION = "At turn 12, you guessed 17, and the target number is higher than 17."
RESPONSE = "It lies between 18 and 33, so I halve what is left: \\boxed{25}"

#: form -> our wrapper, the published one it is held against, and how many times less CPU is asked of it
FORMS: dict[str, tuple[str, str, float | None]] = {
    "observations as text": ("concat", "concat", 3.0),
    "observations and responses as text": ("concat_with_action", "concat_with_action", 3.0),
    "chat template as text": ("concat_chat", "concat_chat", None),
    "messages": ("messages", "concat_with_action", 500.0),
}


class ChatML:
    """A tokenizer with a chat template and nothing else."""

    def apply_chat_template(self, conversation: Any, tokenize: bool, add_generation_prompt: bool) -> str:
        text = "".join([f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in conversation])
        return text + "<|im_start|>assistant\n" if add_generation_prompt else text


def measure(turns: int) -> dict[str, float]:
    """CPU seconds of one episode, by wrapper, of the ``gem`` that this interpreter imports."""
    wrap: dict[str, Any] = {}
    try:
        from gem.core import Env
        from gem.wrappers.observation_wrapper import ObservationWrapper
    except ImportError:
        from gem import Env
        from gem.wrappers import get_wrapper_fns

        for name, _, _ in FORMS.values():
            (wrap[name],) = get_wrapper_fns(name, tokenizer=ChatML())
    else:  # the published package; its own table of names imports every tool there is
        plain = partial(ObservationWrapper, include_chat_template=False)
        wrap["concat"] = partial(plain, include_action=False)
        wrap["concat_with_action"] = partial(plain, include_action=True)
        wrap["concat_chat"] = partial(ObservationWrapper, tokenizer=ChatML())

    class Still(Env):  # type: ignore[misc, valid-type]
        def reset(self, seed: int | None = None, **kwargs: Any) -> tuple[str, dict[str, Any]]:
            return OBSERVATION, {}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            return OBSERVATION, 0.0, False, False, {}

    def episode(env: Any) -> float:
        begun = time.process_time()
        env.reset()
        step = env.step  # looked up once, as vector execution does
        for _ in range(turns):
            step(RESPONSE)
        return time.process_time() - begun

    seconds = {"bare": min(episode(Still()) for _ in range(20))}
    for name, wrapped in wrap.items():
        env = wrapped(Still())
        first = episode(env)
        seconds[name] = min([first, *(episode(env) for _ in range(max(1, min(30, int(0.2 / first)))))])
    return seconds


def measured_by(python: str, turns: int) -> dict[str, float]:
    """:func:`measure` in another interpreter."""
    done = subprocess.run(
        [python, __file__, "--measure", "--turns", str(turns)], capture_output=True, text=True, check=True, cwd="/"
    )
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def install_published(folder: str) -> str:
    """A virtual environment with the published package; returns its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(Path(folder) / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "gem-llm==0.1.0"], check=True)
    return python


def compare(published: str, turns: int, rounds: int) -> list[dict[str, Any]]:
    own: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    for _ in range(rounds):
        theirs.append(measured_by(published, turns))
        own.append(measured_by(sys.executable, turns))
    best_own = {name: min(run[name] for run in own) for name in own[0]}
    best_theirs = {name: min(run[name] for run in theirs) for name in theirs[0]}
    rows = []
    for form, (mine, other, asked) in FORMS.items():
        ours, published_seconds = best_own[mine], best_theirs[other]
        rows.append(
            {
                "form": form,
                "published_ms": published_seconds * 1e3,
                "ours_ms": ours * 1e3,
                "times_less": published_seconds / ours,
                "times_less_net": (published_seconds - best_theirs["bare"]) / (ours - best_own["bare"]),
                "asked": asked,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="What history costs, beside the published package.")
    parser.add_argument("--published", help="an interpreter that has gem-llm 0.1.0")
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.turns)))
        return
    with tempfile.TemporaryDirectory() as folder:
        published = arguments.published or install_published(folder)
        rows = compare(published, arguments.turns, arguments.rounds)
    print(f"CPU of an episode of {arguments.turns} turns, milliseconds\n")
    print(f"{'form':36} {'published':>10} {'ours':>8} {'times less':>11} {'net':>7} {'asked':>6}")
    for row in rows:
        asked = "-" if row["asked"] is None else f"{row['asked']:g}"
        print(
            f"{row['form']:36} {row['published_ms']:10.2f} {row['ours_ms']:8.3f} {row['times_less']:11.0f} "
            f"{row['times_less_net']:7.0f} {asked:>6}"
        )
    text = json.dumps({"turns": arguments.turns, "rows": rows}, indent=1)
    print(f"\n{text}")
    if arguments.json:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()

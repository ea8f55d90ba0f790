"""The program of a judging process: one JSON request a line on standard input, one JSON verdict a line back.

Run as ``python -m gem_math.grading.judge_process``. It imports sympy and parses what a model wrote, so it has
limits of its own: memory, and processor time for each request, which the kernel enforces even inside one long
multiplication and even when nobody waits for the answer any more.
"""

from __future__ import annotations

import json
import logging
import math
import os
import resource
import sys
from typing import Any

#: Address space, in bytes.
MAX_MEMORY = 1 << 30


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the libraries print is not a verdict
    logging.disable(logging.CRITICAL)
    from math_verify import parse, verify

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def equal(answer: str, gold: str) -> bool:
        # parse() reads anchored LaTeX first; the processor limit stands in for its own time limits
        gold_parsed = parse(f"${gold}$", parsing_timeout=None)
        answer_parsed = parse(f"${answer}$", parsing_timeout=None)
        return bool(verify(gold_parsed, answer_parsed, timeout_seconds=None))

    equal("1", "1")  # warm
    reply(channel, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + request["limit"]) + 1, resource.RLIM_INFINITY))
        try:
            reply(channel, {"equal": equal(request["answer"], request["gold"])})
        except Exception as error:
            reply(channel, {"error": f"{type(error).__name__}: {error}"[:500]})


def reply(channel: Any, message: dict[str, Any]) -> None:
    channel.write(json.dumps(message) + "\n")
    channel.flush()


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(0)

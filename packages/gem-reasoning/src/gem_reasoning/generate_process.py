"""The program of the generating process: requests for items come in, items go out, both pickled.

Run as ``python -m gem_reasoning.generate_process`` with a fixed hash seed: some generators iterate over sets. Some
draw from the global generators, which are seeded for each item, so that it matters not what was made before.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
import zlib
from typing import Any


def main() -> None:
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a generator prints is not a reply
    import numpy as np

    from gem_reasoning.tasks import dataset

    requests = sys.stdin.buffer
    while True:
        try:
            key = pickle.load(requests)
        except EOFError:
            return
        name, options, seed, size, idx = key
        answer: tuple[bool, Any]
        own_seed = zlib.crc32(repr(key).encode())
        random.seed(own_seed)
        np.random.seed(own_seed)
        try:
            answer = (True, dataset(name, options, seed, size)[idx])
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        pickle.dump((key, *answer), replies)
        replies.flush()


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(0)

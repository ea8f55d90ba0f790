"""What it costs to search a million passages with the embedded BM25 index.

    python benchmarks/search_bm25.py [--passages 1000000] [--json FILE]

The passages are generated: 80 words each, drawn by Zipf's law from 200,000. A query has 3 to 12 words of one
passage, so its frequent words occur in most of the others. A process that has just started opens the index and
searches; the passages were written before, so that the operating system may have the files in memory still.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from _harness import Clock, Contender, Numbers, Row, main

WORDS_A_PASSAGE, VOCABULARY = 80, 200_000
QUERIES = 500
#: How the process that measures is told where the index is.
INDEX = "GEM_BENCHMARK_INDEX"


def passages(count: int) -> Iterator[str]:
    import numpy as np

    generator = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    lengths = generator.integers(2, 11, VOCABULARY)
    words = np.array(["".join(generator.choice(letters, length)) for length in lengths], dtype=object)
    shares = 1.0 / np.arange(1, VOCABULARY + 1)
    limits = np.cumsum(shares / shares.sum())
    for start in range(0, count, 10_000):
        rows = min(10_000, count - start)
        drawn = np.searchsorted(limits, generator.random((rows, WORDS_A_PASSAGE)))
        for row in words[np.minimum(drawn, VOCABULARY - 1)]:
            yield " ".join(row)


def write_corpus(path: Path, count: int) -> None:
    with path.open("w") as file:
        for number, text in enumerate(passages(count)):
            file.write(json.dumps({"id": number, "title": f"Passage {number}", "text": text}) + "\n")


def queries(index: str) -> list[str]:
    return json.loads(Path(index + ".queries").read_text())


def write_queries(corpus: Path, index: str) -> None:
    generator = random.Random(0)
    size = corpus.stat().st_size
    chosen = []
    with corpus.open("rb") as file:
        for _ in range(QUERIES):
            file.seek(generator.randrange(size - 10_000))
            file.readline()
            words = json.loads(file.readline())["text"].split()
            chosen.append(" ".join(generator.sample(words, generator.randint(3, 12))))
    Path(index + ".queries").write_text(json.dumps(chosen))


def memory() -> dict[str, float]:
    """Megabytes of this process: its own, and of files that are mapped, which the system can take back."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: float(lines[name].split()[0]) / 1024 for name in ("RssAnon", "RssFile")}


def search() -> Numbers:
    from gem_tools.search import IndexRetriever
    from gem_tools.search.retriever import require

    index = os.environ[INDEX]
    asked = queries(index)
    require("tantivy")
    before = memory()
    clock = Clock()
    retriever = IndexRetriever(index)
    load = clock.wall
    opened = memory()
    waits, work = [], []
    for query in asked:
        began, worked = time.perf_counter(), time.process_time()
        (hits,) = retriever.search([query], 3)
        work.append(time.process_time() - worked)
        waits.append(time.perf_counter() - began)
        assert len(hits) == 3
    after = memory()
    waits.sort()
    return {
        "load_ms": 1e3 * load,
        "p50_ms": 1e3 * statistics.median(waits),
        "p99_ms": 1e3 * waits[int(0.99 * len(waits))],
        "cpu_ms": 1e3 * statistics.median(work),
        "opened_anonymous_mb": opened["RssAnon"] - before["RssAnon"],
        "anonymous_mb": after["RssAnon"] - before["RssAnon"],
        "mapped_mb": after["RssFile"] - before["RssFile"],
    }


def run() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--passages", type=int, default=1_000_000)
    options, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    if "--contender" in rest or "--help" in rest or "-h" in rest:
        main(__doc__.splitlines()[0], {"search": Contender(search)}, lambda _: [])
        return
    with tempfile.TemporaryDirectory() as folder:
        from gem_tools.search import build_index

        corpus, index = Path(folder, "corpus.jsonl"), str(Path(folder, "index"))
        write_corpus(corpus, options.passages)
        write_queries(corpus, index)
        clock = Clock()
        build_index(corpus, index)
        build_cpu, build_wall = clock.cpu, clock.wall
        size = sum(file.stat().st_size for file in Path(index).rglob("*") if file.is_file()) / 2**20
        os.environ[INDEX] = index

        def report(medians: dict[str, Numbers]) -> list[Row]:
            found = medians["search"]
            own = found["anonymous_mb"]
            return [
                Row(f"build, {options.passages:,} passages", f"{build_cpu:.0f} s CPU, {build_wall:.0f} s wall"),
                Row("index on disk", f"{size:.0f} MB ({corpus.stat().st_size / 2**20:.0f} MB of JSON Lines)"),
                Row("load", f"{found['load_ms']:.1f} ms", "under 1 s", found["load_ms"] < 1000),
                Row("query, p50", f"{found['p50_ms']:.2f} ms", "under 20 ms", found["p50_ms"] < 20),
                Row("query, p99", f"{found['p99_ms']:.2f} ms"),
                Row("query, CPU, p50", f"{found['cpu_ms']:.2f} ms"),
                Row("memory of the process: loading", f"{found['opened_anonymous_mb']:+.1f} MB"),
                Row(f"and after {QUERIES} queries", f"{own:+.1f} MB", "memory-mapped", own < max(16.0, 0.05 * size)),
                Row("pages of the index mapped", f"{found['mapped_mb']:+.0f} MB"),
            ]

        main(__doc__.splitlines()[0], {"search": Contender(search)}, report, repeats=3)


if __name__ == "__main__":
    run()

"""Build a search index over documents of your own, look something up in it, serve it over HTTP.

gem search build CORPUS INDEX     index a JSON Lines, CSV, TSV or Parquet file, or a folder of text
gem search query INDEX WORDS...   show the best documents
gem search serve INDEX            a server for training runs on other machines
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TextIO

help = "build, query and serve a search index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="what", required=True, metavar="{build,query,serve}")

    build = commands.add_parser("build", help="index a corpus", description="Index a corpus.")
    build.add_argument("corpus", help=".jsonl, .jsonl.gz, .csv, .tsv, .parquet, .txt, .md, or a folder of them")
    build.add_argument("index", help="folder of the index")
    existing = build.add_mutually_exclusive_group()
    existing.add_argument("--replace", action="store_true", help="replace the index that is there")
    existing.add_argument("--extend", action="store_true", help="add the documents to the index that is there")
    build.add_argument("--dense", metavar="MODEL", help="also make vectors with this embedding model")
    build.add_argument("--language", default="english", help="whose word endings to ignore, or none (default: english)")
    build.add_argument("--words", type=int, help="cut documents into passages of so many words (text: 200; 0: whole)")
    for column in ("id", "title", "text"):
        build.add_argument(f"--{column}-column", metavar="NAME", help=f"the column of a table that holds the {column}")
    build.add_argument("--quiet", action="store_true", help="no progress")

    query = commands.add_parser("query", help="look something up", description="Show the best documents.")
    query.add_argument("index", help="folder of an index, URL of a server, serpapi or google")
    query.add_argument("words", nargs="+", help="what to look for")
    query.add_argument("--topk", type=int, default=3, help="how many documents (default: 3)")

    serve = commands.add_parser("serve", help="serve an index over HTTP", description="Serve an index over HTTP.")
    serve.add_argument("index", help="folder of the index")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine)")
    serve.add_argument("--port", type=int, default=8000, help="port; 0 takes a free one (default: 8000)")
    serve.add_argument("--topk", type=int, default=10, help="documents where a request does not say (default: 10)")
    serve.add_argument("--workers", type=int, help="searches at a time (default: one a core)")
    for command in (query, serve):
        command.add_argument("--method", help="bm25, dense or hybrid (default: hybrid where there are vectors)")


def run(args: argparse.Namespace) -> int:
    return {"build": _build, "query": _query, "serve": _serve}[args.what](args)


def _build(args: argparse.Namespace) -> int:
    from gem_tools.search.build import build_index
    from gem_tools.search.corpus import Layout

    if args.words is not None and args.words < 0:
        raise ValueError(f"--words must be 0 or more, got {args.words}")
    progress = None if args.quiet else Progress(sys.stderr)
    built = build_index(
        args.corpus,
        args.index,
        existing="replace" if args.replace else "extend" if args.extend else "refuse",
        language=args.language,
        dense=args.dense,
        layout=Layout(args.id_column, args.title_column, args.text_column, args.words),
        progress=progress,
    )
    if progress is not None:
        progress.end()
    print(f"{args.index}: {built.documents:,} documents, {built.seconds:.1f} s")
    return 0


def _query(args: argparse.Namespace) -> int:
    from gem_tools.search.retriever import SearchError
    from gem_tools.search.shared import shared_retriever

    if args.topk < 1:
        raise ValueError(f"--topk must be at least 1, got {args.topk}")
    try:
        (hits,) = shared_retriever(args.index, args.method).search([" ".join(args.words)], args.topk, timeout=30.0)
    except SearchError as error:
        print(f"gem: {error}", file=sys.stderr)
        return 1
    for hit in hits:
        print(f"{hit.score:8.3f}  {hit.id}  {hit.title}\n          {' '.join(hit.text.split())[:300]}")
    if not hits:
        print("no document was found")
    return 0


def _serve(args: argparse.Namespace) -> int:
    from gem_tools.search.index import IndexRetriever
    from gem_tools.search.server import serve

    if args.topk < 1 or (args.workers is not None and args.workers < 1):
        raise ValueError("--topk and --workers must be at least 1")
    retriever = IndexRetriever(args.index, args.method)
    told = f"serving {len(retriever):,} documents ({retriever.method}) at"
    serve(
        retriever,
        args.host,
        args.port,
        topk=args.topk,
        workers=args.workers,
        ready=lambda url: print(f"{told} {url}; Ctrl-C stops", flush=True),
    )
    print("stopped")
    return 0


class Progress:
    """Says how many documents are done: in place on a terminal, else a line every ten seconds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._began = self._said = time.monotonic()

    def __call__(self, documents: int) -> None:
        now = time.monotonic()
        if now - self._said >= (0.2 if self._terminal else 10.0):
            self._said = now
            text = f"{documents:,} documents, {documents / (now - self._began):,.0f} a second"
            self._stream.write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")
            self._stream.flush()

    def end(self) -> None:
        """Clear the line on a terminal."""
        if self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

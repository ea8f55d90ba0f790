"""The search tool: a query in a response is looked up, and the model reads the best documents."""

from __future__ import annotations

import os
from typing import Any

from gem.tools import Tool, ToolCall, ToolContext, ToolResult
from gem.tools.parsers import tagged
from gem_tools.search.retriever import Hit, Retriever, SearchError
from gem_tools.search.shared import shared_retriever, source_of


class SearchTool(Tool):
    """Looks up ``<search>query</search>`` and answers with the best documents inside ``<information>``.

    A search that fails, or takes too long, is what the model reads; it does not raise.

    Args:
        retriever: folder of an index, URL of a search server, ``"serpapi"``, ``"google"``, or any
            :class:`Retriever`. By default the environment variable ``GEM_SEARCH`` names it. All tools of a process
            that name the same share one.
        topk: documents a search.
        timeout: seconds a search.
        method: how an index is searched: ``"bm25"``, ``"dense"`` or ``"hybrid"``.
        max_document_chars: a longer document is cut off.
        search_url: another name of ``retriever``, as published.

    Raises:
        ValueError: there is nothing to search in.
        gem.DataError, gem.MissingDependency: it cannot be opened; see :func:`shared_retriever`.
    """

    name = "search"
    tool_type = "search"
    description = "Search a collection of documents and read the best ones."
    parameters = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look for, in plain words."}},
        "required": ["query"],
        "additionalProperties": False,
    }

    def __init__(
        self,
        retriever: str | os.PathLike[str] | Retriever | None = None,
        topk: int = 3,
        timeout: float = 5.0,
        *,
        method: str | None = None,
        max_document_chars: int = 5000,
        search_url: str | None = None,
    ) -> None:
        if topk < 1:
            raise ValueError(f"topk must be at least 1, got {topk}")
        if retriever is None:
            retriever = search_url
        self.topk = topk
        self.timeout = timeout
        self.method = method
        self.max_document_chars = max_document_chars
        self._retriever: Retriever | str
        if retriever is None or isinstance(retriever, str | os.PathLike):
            # The environment is read once: a copy in another process searches the same.
            self._retriever = source_of(retriever)
            shared_retriever(self._retriever, method)  # what is wrong with it is said now
        elif method is not None:
            raise ValueError("method is for an index folder; a retriever has its own")
        else:
            self._retriever = retriever

    @property
    def retriever(self) -> Retriever:
        """Who finds the documents."""
        if isinstance(self._retriever, str):
            return shared_retriever(self._retriever, self.method)
        return self._retriever

    def instructions(self) -> str:
        return (
            "You can search: write what you look for between <search> and </search>. The best documents come back "
            "between <information> and </information>. Search again, in other words, when they do not say what you "
            "need to know."
        )

    def render(self, result: ToolResult) -> str:
        return f"<information>\n{result.content}\n</information>"

    def parse(self, response: str) -> list[ToolCall]:
        return tagged(response, "search", self.name, "query")

    def call(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        timeout = self.timeout if context.timeout is None else min(self.timeout, context.timeout)
        try:
            (hits,) = self.retriever.search([arguments["query"]], self.topk, timeout=timeout)
        except SearchError as error:
            return ToolResult(f"Error: {error}", is_error=True)
        text = "\n".join(self._show(number, hit) for number, hit in enumerate(hits, 1))
        metadata = {"ids": [hit.id for hit in hits], "scores": [hit.score for hit in hits]}
        return ToolResult(text or "No document was found.", metadata=metadata)

    def spawn(self) -> SearchTool:
        # It searches what this one does, whatever the environment variables say by then.
        args, kwargs = self._init_arguments
        if args:
            return type(self)(self._retriever, *args[1:], **kwargs)
        return type(self)(**{**kwargs, "retriever": self._retriever})

    def _show(self, number: int, hit: Hit) -> str:
        text = hit.text
        if len(text) > self.max_document_chars:
            text = f"{text[: self.max_document_chars]} ... [{len(text) - self.max_document_chars} characters left out]"
        return f"Doc {number}(Title: {hit.title[:300]}) {text}"

"""The interface of whatever finds documents."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple, Protocol, runtime_checkable

from gem.errors import GemError, MissingDependency


class Hit(NamedTuple):
    """One document found."""

    id: str
    title: str
    text: str
    #: Higher is better; what it means (BM25, cosine, reciprocal ranks) depends on who found it.
    score: float


class SearchError(GemError):
    """A search that failed. The message is one line that a model may read: it holds no key and no password."""


@runtime_checkable
class Retriever(Protocol):
    """Finds documents. May be called from several threads at once."""

    def search(self, queries: list[str], topk: int, *, timeout: float | None = None) -> list[list[Hit]]:
        """The best ``topk`` documents for each query, best first; fewer, or none, where fewer fit.

        Args:
            queries: any text; nothing in it is syntax.
            topk: at least 1.
            timeout: seconds for all of it; whoever computes in this process may ignore it.

        Raises:
            SearchError: the search could not be carried out.
        """
        ...


def require(module: str, extra: str = "search") -> Any:
    """Import a module that an extra of this package brings.

    Raises:
        gem.MissingDependency: it is not installed; the message is the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingDependency(
            f"this needs {module}, which is not installed: pip install 'gem-tools[{extra}]'"
        ) from None

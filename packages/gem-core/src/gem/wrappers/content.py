"""Putting observations together: text, or lists of content parts for models that see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Content = str | list[dict[str, Any]]


def line(content: Content) -> Content:
    """The content, its text ended by a newline; an empty text stays empty."""
    if isinstance(content, str):
        return content + "\n" if content and content[-1] != "\n" else content
    if content and content[-1].get("type") == "text":
        return [*content[:-1], {**content[-1], "text": line(content[-1]["text"])}]
    return content


def join(pieces: Iterable[Content]) -> Content:
    """One content of several: text where all are text, else parts in which neighbouring texts are one part."""
    pieces = list(pieces)
    try:
        return "".join(pieces)  # type: ignore[arg-type]
    except TypeError:
        parts: list[dict[str, Any]] = []
        for piece in pieces:
            for part in [{"type": "text", "text": piece}] if isinstance(piece, str) else piece:
                if part.get("type") != "text" or not parts or parts[-1].get("type") != "text":
                    parts.append(part)
                elif part["text"]:
                    parts[-1] = {**parts[-1], "text": parts[-1]["text"] + part["text"]}
        return [part for part in parts if part.get("type") != "text" or part["text"]]


def place(content: Content, info: dict[str, Any]) -> Content:
    """The content between ``info["prefix"]`` and ``info["suffix"]``."""
    if "prefix" in info:
        content = join((info["prefix"], content))
    if "suffix" in info:
        suffix = info["suffix"]
        return content + suffix if isinstance(content, str) else join((content, suffix))
    return content


def frame(observation: Content, info: dict[str, Any]) -> Content:
    """One observation as a line of its own, between prefix and suffix."""
    if isinstance(observation, str) and "prefix" not in info:  # nearly all of them: one string is made, not two
        end = "" if not observation or observation[-1] == "\n" else "\n"
        return f"{observation}{end}{info.get('suffix', '')}"
    return place(line(observation), info)

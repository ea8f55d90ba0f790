"""Fenced code as calls."""

from __future__ import annotations

from gem.tools.parsers import fenced


def test_code_of_the_language_is_a_call() -> None:
    response = "```py\nprint(1)\n```\n```js\nx\n```\n```\ny\n```\n<python>z = 1</python>"
    calls = fenced(response, {"python"}, "run", "source")
    assert [(c.name, c.arguments) for c in calls] == [("run", {"source": "print(1)"}), ("run", {"source": "z = 1"})]
    assert all(response[slice(*c.span)] == c.raw and c.status == "ok" for c in calls)


def test_a_block_that_is_not_closed() -> None:
    (call,) = fenced("so:\n```python\nprint(1)", {"python"}, "run")
    assert (call.arguments, call.status) == ({"code": "print(1)"}, "ok")
    (call,) = fenced("so:\n```python\nprint(1", {"python"}, "run")
    assert (call.raw, call.status) == ("```python\nprint(1", "malformed")
    assert call.error is not None
    assert "not closed, and does not compile" in call.error
    assert fenced("I could use <python> here, but no.", {"python"}, "run") == []

"""Play an episode again in another process, with another hash seed.

The process reads a pickled recipe from standard input and writes the trace to standard output.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from gem.env_spec import EnvSpec

if TYPE_CHECKING:
    from gem.testing.subject import Subject
    from gem.testing.trace import Trace


def replay_elsewhere(subject: Subject) -> Trace | None:
    """The trace of the subject's script in another process.

    ``None`` when it cannot be judged because the environment cannot be named to another process: a class that
    lives in ``__main__`` or inside a function, or an option that cannot be pickled.
    """
    try:
        recipe = _recipe(subject)
        payload = b"".join(map(pickle.dumps, (sys.path, recipe, (subject.best_seed, subject.script))))
    except Exception:
        return None
    environ = {**os.environ, "PYTHONHASHSEED": "4242" if os.environ.get("PYTHONHASHSEED") != "4242" else "17"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gem.testing.replay"],
            input=payload,
            capture_output=True,
            env=environ,
            timeout=subject.timeout + 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        subject.report("GEM103", f"an episode in another process took longer than {subject.timeout:g} s")
        return None
    text = done.stdout.decode(errors="replace").rpartition("\n")[2]
    if done.returncode != 0 or not text:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return [{"raised": f"{lines[-1] if lines else 'nothing'} (exit code {done.returncode})"}]
    answer = json.loads(text)
    return answer["trace"]  # type: ignore[no-any-return]


def _recipe(subject: Subject) -> tuple[str, Any, dict[str, Any]]:
    if isinstance(subject.target, str | EnvSpec):
        assert subject.spec is not None
        if not isinstance(subject.spec.entry_point, str):
            importable(subject.spec.entry_point)
        else:
            importlib.import_module(subject.spec.entry_point.partition(":")[0])
        return "spec", subject.spec, subject.kwargs
    if callable(subject.target):
        importable(subject.target)
        return "factory", subject.target, subject.kwargs
    importable(type(subject.target.unwrapped))
    return "spawn", subject.target, subject.kwargs


def importable(thing: Any) -> None:
    """Raise unless another process can import this class or function by name."""
    module: str = getattr(thing, "__module__", None) or "__main__"
    if module == "__main__" or "<locals>" in getattr(thing, "__qualname__", "<locals>"):
        raise pickle.PicklingError(f"{thing!r} has no importable name")
    # Modules that a test runner loads from a path of its own are known here and nowhere else.
    if importlib.util.find_spec(module) is None:
        raise pickle.PicklingError(f"{module} cannot be found by name")


def main() -> int:
    from gem.registry import make
    from gem.testing.trace import play

    output = sys.stdout
    sys.stdout = io.StringIO()  # what the environment prints must not get into the answer
    path, payload = _read()
    sys.path[:] = path
    recipe, seed, actions = payload()
    kind, thing, kwargs = recipe
    env = make(thing, **kwargs) if kind == "spec" else thing(**kwargs) if kind == "factory" else thing.spawn(**kwargs)
    try:
        trace = play(env, seed, actions)
    finally:
        env.close()
    print("\n" + json.dumps({"trace": trace}), end="", file=output, flush=True)
    return 0


def _read() -> tuple[list[str], Any]:
    """The module path, and a function that unpickles the rest once the path holds."""
    data = sys.stdin.buffer.read()
    stream = io.BytesIO(data)
    path = pickle.load(stream)
    return path, lambda: (pickle.load(stream), *pickle.load(stream))


if __name__ == "__main__":
    raise SystemExit(main())

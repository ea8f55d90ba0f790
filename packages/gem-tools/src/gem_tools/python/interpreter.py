"""What has to be visible for an interpreter to run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

from gem.errors import MissingDependency

_QUESTION = """
import json, os, site, sys
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:2]),
    "prefixes": sorted({sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}),
    "user_base": site.getuserbase() if site.ENABLE_USER_SITE and os.path.isdir(site.getusersitepackages()) else None,
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that programs can be run with."""

    executable: str
    version: tuple[int, int]
    #: The installation, and the virtual environment if it is one.
    prefixes: tuple[str, ...]
    #: Where ``pip install --user`` installs, if the interpreter looks there.
    user_base: str | None

    def paths(self) -> list[str]:
        """The files and folders it consists of: never a whole prefix, which may be a project folder."""
        parts = [f"{p}/{part}" for p in self.prefixes for part in ("bin", "lib", "lib64", "pyvenv.cfg")]
        if self.user_base is not None:
            parts.append(f"{self.user_base}/lib")
        return [path for path in parts if os.path.exists(path)]


@cache
def describe(executable: str | None = None) -> Interpreter:
    """Ask an interpreter what it consists of; the running one by default.

    Raises:
        gem.MissingDependency: it does not run, or is older than Python 3.11.
    """
    executable = executable or sys.executable
    try:
        answer = subprocess.run([executable, "-c", _QUESTION], capture_output=True, text=True, timeout=60, check=True)
        facts = json.loads(answer.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise MissingDependency(f"{executable!r} is not a Python that runs ({error}); pass python=PATH") from error
    version = tuple(facts["version"])
    if version < (3, 11):
        raise MissingDependency(f"{executable} is Python {version[0]}.{version[1]}; programs need 3.11 or newer")
    return Interpreter(facts["executable"], version, tuple(facts["prefixes"]), facts["user_base"])

"""What gem-math registers."""

from __future__ import annotations

import subprocess
import sys

import gem


def test_every_published_id_is_there() -> None:
    ids = {spec.id for spec in gem.specs("math")} | {spec.id for spec in gem.specs("eval")}
    assert ids >= {
        *(f"math:{n}" for n in ("ASDiv2K", "GSM8K", "Math12K", "Math8K-3to5", "Orz57K", "DeepScaleR40K", "Geometry3K")),
        *(f"eval:{n}" for n in ("MATH500", "AMC", "OlympiadBench", "Minerva", "AIME24")),
        "math:sample",
        "math:sample-images",
    }


def test_listing_loads_nothing_heavy() -> None:
    heavy = ("datasets", "sympy", "math_verify", "PIL", "numpy")
    program = (
        "import sys, gem; list(gem.specs('math')); env = gem.make('math:sample'); env.reset(seed=0);"
        "assert env.step(r'\\boxed{1}')[2];"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""What gem-code registers."""

from __future__ import annotations

import gem


def test_every_published_id_is_there() -> None:
    ids = {spec.id for namespace in ("code", "eval") for spec in gem.specs(namespace)}
    assert ids >= {"code:CodeContest", "code:Taco8k", "code:PrimeIntellect15k", "eval:CodeContest", "code:sample"}
    assert gem.spec("eval:CodeContest").kwargs["split"] == "test"

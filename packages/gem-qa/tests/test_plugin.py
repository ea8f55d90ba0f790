"""What gem-qa registers."""

from __future__ import annotations

import gem


def test_every_published_id_is_there() -> None:
    ids = {spec.id for namespace in ("qa", "logic", "eval") for spec in gem.specs(namespace)}
    names = ("2Wiki", "PopQA", "TriviaQA", "HotpotQA", "Bamboogle", "NaturalQuestions", "Musique", "QaOpen")
    assert ids >= {
        *(f"logic:RuleTaker-d{depth}" for depth in (0, 1, 2, 3, 5)),
        *(f"eval:{name}" for name in names),
        "qa:NaturalQuestions",
        "qa:HotpotQA",
        "qa:sample",
        "logic:sample",
    }


def test_columns_are_the_published_ones() -> None:
    assert gem.spec("qa:HotpotQA").kwargs["question_key"] == "problem"
    assert gem.spec("logic:RuleTaker-d1").kwargs["extract_boxed"] is True

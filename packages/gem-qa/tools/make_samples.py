"""Write the sample data that the package ships: an invented island, its encyclopedia, questions, and logic puzzles.

    python packages/gem-qa/tools/make_samples.py

All of it is of the project's own making (Apache-2.0). Nothing of it is in any model's training data, so that a
question cannot be answered without reading or searching the encyclopedia.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

DATA = Path(__file__).parent.parent / "src" / "gem_qa" / "data"

TOWNS = [
    "Velmora",
    "Tarrowick",
    "Osfell",
    "Brinhaven",
    "Quillport",
    "Merrowdale",
    "Sandrith",
    "Hollin Cross",
    "Ivarsund",
    "Pellworth",
    "Dunmarrow",
    "Eskerly",
]
RIVERS = ["Ashmere", "Lune", "Corbel", "Wend"]
PEOPLE = [
    "Adela Thorne",
    "Bastian Crewe",
    "Cora Windle",
    "Dorian Pell",
    "Esme Harrow",
    "Felix Marden",
    "Greta Olsoun",
    "Hugo Larkin",
    "Ines Vantar",
    "Jonas Reeve",
    "Klara Dunmore",
    "Lucan Frey",
]
TRADES = [
    "glassblower",
    "cartographer",
    "botanist",
    "clockmaker",
    "composer",
    "astronomer",
    "shipwright",
    "poet",
    "engineer",
    "weaver",
    "physician",
    "printer",
]
WORKS = [
    "the Lantern Bridge",
    "the Great Tide Clock",
    "the Salt Library",
    "the Northern Atlas",
    "the Moss Herbarium",
    "the Bell Symphony",
    "the Glass Observatory",
    "the Swan Ferry",
    "the Winter Almanac",
    "the Blue Tapestry",
    "the Harbour Hospital",
    "the Echo Press",
]


def island(rng: random.Random) -> tuple[list[dict[str, str]], list[dict[str, object]]]:
    """Passages and questions; a third of the questions need two passages."""
    passages, questions = [], []

    def passage(title: str, text: str) -> None:
        passages.append({"id": str(len(passages)), "title": title, "contents": f"{title}\n{text}"})

    def ask(question: str, *answers: str) -> None:
        questions.append({"question": question, "answer": list(answers)})

    founded = rng.sample(range(1203, 1799), len(TOWNS))
    inhabitants = [rng.randrange(900, 48000) for _ in TOWNS]
    river_of = {town: RIVERS[i % len(RIVERS)] for i, town in enumerate(TOWNS)}
    born_in = dict(zip(PEOPLE, rng.sample(TOWNS, len(PEOPLE)), strict=True))
    born = {person: rng.randrange(1700, 1890) for person in PEOPLE}
    maker_of = dict(zip(WORKS, rng.sample(PEOPLE, len(WORKS)), strict=True))
    finished = {work: born[maker_of[work]] + rng.randrange(24, 60) for work in WORKS}

    passage(
        "Caldrey",
        f"Caldrey is an island of {len(TOWNS)} towns and {len(RIVERS)} rivers. Its capital is "
        f"{TOWNS[0]}, and its highest mountain is Mount Orrin, 1,482 metres high. The currency is the crown.",
    )
    for river in RIVERS:
        towns = [town for town in TOWNS if river_of[town] == river]
        passage(
            f"River {river}",
            f"The {river} is one of the rivers of Caldrey. From its spring on Mount Orrin to the "
            f"sea it passes {', '.join(towns[:-1])} and {towns[-1]}.",
        )
    for town, year, count in zip(TOWNS, founded, inhabitants, strict=True):
        passage(
            town,
            f"{town} is a town on the river {river_of[town]} in Caldrey. It was founded in {year} and has "
            f"{count:,} inhabitants.",
        )
    for person, trade in zip(PEOPLE, TRADES, strict=True):
        article = "an" if trade[0] in "aeiou" else "a"
        passage(person, f"{person} was {article} {trade}, born in {born_in[person]} in {born[person]}.")
    for work in WORKS:
        title = work.removeprefix("the ")
        passage(
            title, f"{work[0].upper()}{work[1:]} is a work of {maker_of[work]}. It was finished in {finished[work]}."
        )

    ask("What is the capital of Caldrey?", TOWNS[0])
    ask("How high is Mount Orrin, in metres?", "1,482", "1,482 metres")
    ask("What is the currency of Caldrey?", "the crown", "crown")
    for town in TOWNS[1:9]:
        ask(f"On which river of Caldrey does {town} lie?", river_of[town], f"the {river_of[town]}")
    for town, year in list(zip(TOWNS, founded, strict=True))[4:12]:
        ask(f"In which year was {town} founded?", str(year))
    for person in PEOPLE[:5]:
        ask(f"In which town was {person} born?", born_in[person])
    for work in WORKS[:6]:
        ask(f"In which town was the maker of {work} born?", born_in[maker_of[work]])
    for work in WORKS[6:]:
        person = maker_of[work]
        ask(
            f"On which river lies the town where the maker of {work} was born?",
            river_of[born_in[person]],
            f"the {river_of[born_in[person]]}",
        )
    return passages, questions


def logic(rng: random.Random, count: int = 36) -> list[dict[str, str]]:
    """Facts and rules about people, and a statement that follows from them or does not (closed world)."""
    names = ["Anne", "Bob", "Charlie", "Dave", "Erin", "Fiona", "Gary", "Harry"]
    traits = ["big", "blue", "cold", "kind", "quiet", "rough", "round", "smart", "young", "green"]
    rows: list[dict[str, str]] = []
    wanted = True
    while len(rows) < count:
        people = rng.sample(names, 3)
        facts = {(rng.choice(people), rng.choice(traits)) for _ in range(4)}
        rules = [tuple(rng.sample(traits, rng.choice([2, 3]))) for _ in range(5)]
        known = set(facts)
        while True:
            derived = {(p, r[-1]) for r in rules for p in people if all((p, t) in known for t in r[:-1])} - known
            if not derived:
                break
            known |= derived
        candidates = [(p, t) for p in people for t in traits if ((p, t) in known) == wanted and (p, t) not in facts]
        if not candidates:
            continue
        person, trait = rng.choice(candidates)
        text = " ".join(f"{p} is {t}." for p, t in sorted(facts))
        text += " " + " ".join(f"If someone is {' and '.join(r[:-1])} then they are {r[-1]}." for r in rules)
        rows.append(
            {
                "question": f"{text}\nWhat does not follow is false. True or false: {person} is {trait}.",
                "answer": str(wanted),
            }
        )
        wanted = not wanted
    return rows


def write(name: str, rows: list) -> None:
    with (DATA / name).open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> None:
    DATA.mkdir(exist_ok=True)
    passages, questions = island(random.Random(0))
    write("sample_corpus.jsonl", passages)
    write("sample.jsonl", questions)
    write("sample_logic.jsonl", logic(random.Random(1)))
    (DATA / "README.md").write_text(
        "# Data\n\nWritten by `tools/make_samples.py` of this package; of the project's own making, Apache-2.0.\n"
    )


if __name__ == "__main__":
    main()

"""Answer questions with a search tool.

The questions of ``qa:sample`` are about an invented island, so that nobody can know the answers: they stand in its
encyclopedia. This builds a search index over the encyclopedia, gives the environment a search tool, and lets a policy
answer three questions, some of which take several searches. The policy here is a short script; a language model stands
in the same place, and reads and writes the same texts.

    pip install gem-core gem-qa 'gem-tools[search]'     # from this repository: by path, see the README
    python examples/05_search_qa.py
"""

from __future__ import annotations

import re
import tempfile
from importlib.resources import files

import gem
from gem_tools.search import build_index

QUESTIONS = (0, 24, 30)

#: What to search for about a thing, and what to read in the documents: the answer, or the next thing.
CAPITAL = ("capital of {}", r"capital is (\w+)")
MAKER = ("who made the {}", r"{} is a work of ([\w ]+)\.")
BIRTHPLACE = ("{} born", r"{} was [^.]* born in ([\w ]+) in")
RIVER = ("{} town river", r"{} is a town on the river (\w+)")


def policy(observations: list[str]) -> str:
    """The next response, from what was read so far: the question with its instructions, then search results."""
    question = observations[0].partition("Question: ")[2].splitlines()[0]
    if work := re.search(r"maker of the (.+?) (?:was )?born", question):
        thing, steps = work[1], [MAKER, BIRTHPLACE] + [RIVER] * question.startswith("On which river")
    else:
        thing, steps = "Caldrey", [CAPITAL]
    for number, (query, pattern) in enumerate(steps, 1):
        if number == len(observations):
            return f"<think>I need to know more about {thing}.</think> <search>{query.format(thing)}</search>"
        found = re.search(pattern.format(thing), observations[number])
        if found is None:
            return "<answer>unknown</answer>"
        thing = found[1]
    return f"<answer>{thing}</answer>"


def main() -> None:
    corpus = str(files("gem_qa") / "data" / "sample_corpus.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        index = f"{folder}/index"
        built = build_index(corpus, index)  # or, once and for all: gem search build CORPUS INDEX
        print(f"{built.documents} documents indexed\n")
        search = {"name": "search_tool_no_int_reward", "retriever": index, "topk": 2}
        rewards = []
        with gem.make("qa:sample", wrappers=[search]) as env:
            for number in QUESTIONS:
                observation, info = env.reset(options={"idx": number})
                observations, done = [observation], False
                print(observation)
                while not done:
                    response = policy(observations)
                    observation, reward, terminated, truncated, info = env.step(response)
                    observations.append(observation)
                    done = terminated or truncated
                    print(f"> {response}\n{observation}\n")
                print(f"reward {reward}, {info['tool_use_counter']} searches\n{'-' * 60}")
                rewards.append(reward)
    if rewards != [1.0] * len(QUESTIONS):
        raise SystemExit(f"not all questions were answered: {rewards}")


if __name__ == "__main__":
    main()

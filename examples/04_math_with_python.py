"""A tool makes one turn many: a scripted agent computes in the isolated Python tool, then answers."""

import re

import gem

PROGRAM = """
import re
question = {question!r}
made, hours, bag = map(int, re.findall(r"\\d+", question)[:3])
print(made * hours % bag)
"""


def main() -> None:
    env = gem.make("math:sample", wrappers="python_tool_no_int_reward")
    question, info = env.reset(idx=0)
    print(question)
    program = PROGRAM.format(question=question.split("Put your final")[0])
    observation, _, terminated, _, info = env.step(f"I compute.\n```python\n{program}\n```")
    print(observation, "tool uses:", info["tool_use_counter"])
    assert not terminated
    result = re.findall(r"-?\d+", observation)[-1]
    _, reward, _, _, info = env.step(f"So it is \\boxed{{{result}}}.")
    print(f"reward {reward}, {info['reason']}")
    env.close()
    assert reward == 1.0


if __name__ == "__main__":
    main()

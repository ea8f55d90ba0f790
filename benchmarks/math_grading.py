"""Grading mathematical answers: speed and agreement with the right value, and what 64 environments cost.

    python benchmarks/math_grading.py --published PATH/TO/PYTHON

The 500 answers are integers, fractions, radicals, polynomials, sets, intervals, points, matrices and garbage, each
paired with a gold answer so that the right verdict is known from how the pair was made. CPU time includes the
processes a grader starts.
"""

from __future__ import annotations

import random
from fractions import Fraction

from _harness import Clock, Contender, Numbers, Row, main, resident_megabytes

Pair = tuple[str, str, bool]


def pairs(count: int = 500) -> list[Pair]:
    """``(answer, gold, whether they say the same)``, the same list in every process."""
    rng = random.Random(0)
    made: list[Pair] = []
    while len(made) < count:
        same = rng.random() < 0.5
        made.append(KINDS[len(made) % len(KINDS)](rng, same))
    return made


def integers(rng: random.Random, same: bool) -> Pair:
    n = rng.randint(-5000, 99999)
    return (f"{n if same else n + rng.choice([-1, 1, 10])}", str(n), same)


def thousands(rng: random.Random, same: bool) -> Pair:
    n = rng.randint(1000, 9_999_999)
    return (f"{n if same else n + 1:,}".replace(",", r",\!"), str(n), same)


def fractions(rng: random.Random, same: bool) -> Pair:
    value = Fraction(rng.randint(-40, 40), rng.choice([2, 4, 5, 8, 10, 20]))
    other = value if same else value + Fraction(1, 7)
    return (rf"\frac{{{other.numerator}}}{{{other.denominator}}}", str(float(value)), same)


def radicals(rng: random.Random, same: bool) -> Pair:
    k, n = rng.randint(2, 9), rng.choice([2, 3, 5, 6, 7])
    return (rf"{k}\sqrt{{{n}}}", rf"\sqrt{{{k * k * n + (0 if same else 1)}}}", same)


def polynomials(rng: random.Random, same: bool) -> Pair:
    a, b = rng.randint(1, 9), rng.randint(1, 9)
    return (f"(x+{a})(x+{b})", f"x^2+{a + b}x+{a * b + (0 if same else 1)}", same)


def sets(rng: random.Random, same: bool) -> Pair:
    items = rng.sample(range(-20, 60), 4)
    shuffled = rng.sample(items, 4)
    if not same:
        shuffled[0] += 100
    return (rf"\{{{', '.join(map(str, shuffled))}\}}", rf"\{{{','.join(map(str, items))}\}}", same)


def intervals(rng: random.Random, same: bool) -> Pair:
    low, high = rng.randint(-30, 0), rng.randint(1, 30)
    return (rf"\left[{low}, {high}{')' if same else ']'}", f"[{low},{high})", same)


def points(rng: random.Random, same: bool) -> Pair:
    a, b = rng.sample(range(-9, 10), 2)
    first, second = (a, b) if same else (b, a)
    return (rf"\left({first},\frac{{{second}}}{{2}}\right)", f"({a},{b / 2})", same)


def multiples_of_pi(rng: random.Random, same: bool) -> Pair:
    n, d = rng.randint(1, 9), rng.choice([2, 3, 4, 6])
    return (rf"\frac{{{n}\pi}}{{{d}}}", rf"\frac{{{n}}}{{{d}}}\pi{'' if same else '+1'}", same)


def matrices(rng: random.Random, same: bool) -> Pair:
    a, b, c, d = (rng.randint(-9, 9) for _ in range(4))
    rows = rf"{a} & {b} \\ {c} & {d if same else d + 1}"
    gold = rf"\begin{{pmatrix}} {a} & {b} \\ {c} & {d} \end{{pmatrix}}"
    return (rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}", gold, same)


def garbage(rng: random.Random, _: bool) -> Pair:
    text = rng.choice(["I do not know", "no solution exists", "the limit of the sequence", "see above", "n/a", "????"])
    return (text, str(rng.randint(1, 99)), False)


KINDS = [
    integers, thousands, fractions, radicals, polynomials, sets, intervals, points, multiples_of_pi, matrices, garbage,
]  # fmt: skip


def agreement(verdicts: list[bool]) -> float:
    right = [same for _, _, same in pairs()]
    return sum(a == b for a, b in zip(verdicts, right, strict=True)) / len(right)


def ours() -> Numbers:
    from gem_math.grading import Grader
    from gem_math.grading.judge import _judge

    grader = Grader()
    responses = [(f"So the answer is $\\boxed{{{answer}}}$.", gold) for answer, gold, _ in pairs()]
    clock = Clock()
    verdicts = [grader.grade(response, gold).correct for response, gold in responses]
    _judge.close()  # so that its processor time is counted
    return {"per_second": len(responses) / clock.cpu, "agreement": agreement(verdicts)}


def published() -> Numbers:
    from gem.envs.math_env import MathEnv

    responses = [(f"So the answer is $\\boxed{{{answer}}}$.", gold) for answer, gold, _ in pairs()]
    clock = Clock()
    verdicts = [bool(MathEnv.check_correct(response, gold)) for response, gold in responses]
    return {"per_second": len(responses) / clock.cpu, "agreement": agreement(verdicts)}


def math_verify() -> Numbers:
    from math_verify import parse, verify

    responses = [(f"So the answer is $\\boxed{{{answer}}}$.", gold) for answer, gold, _ in pairs()]
    clock = Clock()
    verdicts = [bool(verify(parse(f"${gold}$"), parse(response))) for response, gold in responses]
    return {"per_second": len(responses) / clock.cpu, "agreement": agreement(verdicts)}


def _many(make: object) -> Numbers:
    import multiprocessing

    rows = [{"problem": f"{n}+1", "answer": str(n + 1)} for n in range(100)]
    before = resident_megabytes()
    clock = Clock()
    envs = [make(rows) for _ in range(64)]  # type: ignore[operator]
    built = clock.wall
    for env in envs:
        env.reset()
        env.step(r"\boxed{1}")
    children = multiprocessing.active_children()
    memory = resident_megabytes() - before
    for child in children:
        with open(f"/proc/{child.pid}/smaps_rollup") as file:
            memory += sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1000
    return {"construction_s": built, "processes": len(children), "memory_mb": memory}


def ours_64() -> Numbers:
    from gem_math.env import MathEnv
    from gem_math.grading.judge import _judge

    numbers = _many(lambda rows: MathEnv(dataset=rows))
    return {**numbers, "processes": len(_judge.pids())}


def published_64() -> Numbers:
    from datasets import Dataset

    from gem.envs.math_env import MathEnv

    return _many(lambda rows: MathEnv(dataset=Dataset.from_list(rows)))


def report(medians: dict[str, Numbers]) -> list[Row]:
    mine = medians["ours"]
    rows = [
        Row("answers graded a CPU second", f"{mine['per_second']:,.0f}"),
        Row("agreement with the right value", f"{mine['agreement']:.1%}", "100 %", mine["agreement"] == 1),
        Row(
            "plain math-verify",
            f"{medians['math_verify']['per_second']:,.0f}, {medians['math_verify']['agreement']:.1%}",
        ),
    ]
    if "published" in medians:
        theirs = medians["published"]
        ratio = mine["per_second"] / theirs["per_second"]
        rows.append(Row("published", f"{theirs['per_second']:,.0f}, {theirs['agreement']:.1%}"))
        rows.append(Row("times the published", f"{ratio:.0f}", "50", ratio >= 50))
    many = medians["ours_64"]
    rows += [
        Row("64 environments: grading processes", f"{many['processes']:.0f}", "at most 2", many["processes"] <= 2),
        Row("64 environments: memory, MB", f"{many['memory_mb']:.1f}", "under 100", many["memory_mb"] < 100),
        Row("64 environments: construction, s", f"{many['construction_s']:.4f}", "0.1", many["construction_s"] < 0.1),
    ]
    if "published_64" in medians:
        theirs = medians["published_64"]
        shown = f"{theirs['processes']:.0f}, {theirs['memory_mb']:,.0f} MB, {theirs['construction_s']:.1f} s"
        rows.append(Row("64 environments, published", shown))
    return rows


CONTENDERS = {
    "ours": Contender(ours),
    "published": Contender(published, published=True),
    "math_verify": Contender(math_verify),
    "ours_64": Contender(ours_64),
    "published_64": Contender(published_64, published=True),
}

if __name__ == "__main__":
    main("Grading mathematical answers", CONTENDERS, report, repeats=3)

"""Write the sample data sets that the package ships; their contents are this project's own (Apache-2.0).

python packages/gem-math/tools/make_samples.py
"""

from __future__ import annotations

import base64
import io
import json
import math
import random
from fractions import Fraction
from pathlib import Path

from PIL import Image, ImageDraw

DATA = Path(__file__).parent.parent / "src" / "gem_math" / "data"
ASK = " Put your final answer within \\boxed{}."


def text_problems(rng: random.Random) -> list[dict[str, str]]:
    """Four problems of each of ten kinds."""
    rows = []
    for _ in range(4):
        a, b, c = rng.randint(12, 60), rng.randint(3, 11), rng.randint(2, 6)
        rows.append(
            (
                f"A baker makes {a} rolls an hour for {b} hours and packs them in bags of {c}. "
                f"How many rolls are left over?",
                str(a * b % c),
            )
        )
        p, q, r, s = (rng.randint(1, 9) for _ in range(4))
        total = Fraction(p, q + 1) + Fraction(r, s + 2)
        answer = (
            str(total.numerator) if total.denominator == 1 else f"\\frac{{{total.numerator}}}{{{total.denominator}}}"
        )
        rows.append(
            (f"Add \\frac{{{p}}}{{{q + 1}}} and \\frac{{{r}}}{{{s + 2}}}. Give the sum in lowest terms.", answer)
        )
        x, y = sorted(rng.sample([n for n in range(-9, 10) if n], 2))
        rows.append((f"Find all real solutions of x^2 {-(x + y):+d}x {x * y:+d} = 0.", f"{x}, {y}"))
        n = rng.choice([2, 3, 5, 6, 7])
        k = rng.randint(2, 9)
        rows.append((f"Simplify \\sqrt{{{n * k * k}}}.", f"{k}\\sqrt{{{n}}}"))
        share = rng.choice([5, 12, 20, 35, 45])
        rows.append((f"What percentage of 400 is {share * 4}?", f"{share}\\%"))
        low, width = rng.randint(-8, 3), rng.randint(2, 9)
        rows.append(
            (
                f"Solve {low} \\le x - 1 < {low + width}. Write the solutions as an interval.",
                f"[{low + 1},{low + width + 1})",
            )
        )
        n = rng.randint(20, 200)
        base = rng.choice([2, 5, 8])
        digits, rest = "", n
        while rest:
            digits, rest = str(rest % base) + digits, rest // base
        rows.append((f"Write {n} in base {base}.", f"{digits}_{base}"))
        a, b, c, d = (rng.randint(-5, 6) for _ in range(4))
        rows.append(
            (
                f"Find the determinant of \\begin{{pmatrix}} {a} & {b} \\\\ {c} & {d} \\end{{pmatrix}}.",
                str(a * d - b * c),
            )
        )
        a, b = rng.randint(2, 9), rng.randint(1, 9)
        rows.append((f"Expand ({a}x + {b})^2.", f"{a * a}x^2+{2 * a * b}x+{b * b}"))
        r = rng.randint(2, 12)
        rows.append((f"A circle has radius {r}. What is its area?", f"{r * r}\\pi"))
    return [{"problem": question + ASK, "answer": answer} for question, answer in rows]


def picture() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("L", (240, 180), 255)
    return image, ImageDraw.Draw(image)


def encode(image: Image.Image) -> str:
    buffer = io.BytesIO()
    image.quantize(8).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def image_problems(rng: random.Random) -> list[dict[str, object]]:
    """Eight problems of each of three kinds, all lengths labelled in the picture only."""
    rows: list[tuple[str, str, Image.Image]] = []
    for _ in range(8):
        width, height = rng.randint(4, 20), rng.randint(3, 12)
        image, draw = picture()
        draw.rectangle((50, 40, 190, 130), outline=0, width=2)
        draw.text((115, 136), str(width), fill=0, font_size=18)
        draw.text((196, 76), str(height), fill=0, font_size=18)
        rows.append(("What is the area of the rectangle?", str(width * height), image))

        a, b = rng.choice([(3, 4), (5, 12), (8, 15), (2, 3), (1, 2), (4, 7), (6, 8), (5, 5)])
        image, draw = picture()
        draw.polygon([(40, 140), (200, 140), (40, 30)], outline=0, width=2)
        draw.rectangle((40, 128, 52, 140), outline=0)
        draw.text((18, 78), str(a), fill=0, font_size=18)
        draw.text((112, 146), str(b), fill=0, font_size=18)
        draw.text((128, 62), "x", fill=0, font_size=18)
        square = a * a + b * b
        root = math.isqrt(square)
        answer = str(root) if root * root == square else f"\\sqrt{{{square}}}"
        rows.append(("Find x.", answer, image))

        values = [rng.randint(1, 9) for _ in range(4)]
        image, draw = picture()
        for position, value in enumerate(values):
            left = 40 + position * 45
            draw.rectangle((left, 150 - value * 13, left + 28, 150), outline=0, fill=190)
            draw.text((left + 9, 131 - value * 13), str(value), fill=0, font_size=16)
            draw.text((left + 9, 155), "ABCD"[position], fill=0, font_size=16)
        draw.line((30, 150, 220, 150), fill=0, width=2)
        rows.append(("What is the sum of the four bars?", str(sum(values)), image))
    return [{"problem": "<image>" + q + ASK, "answer": answer, "images": [encode(i)]} for q, answer, i in rows]


def main() -> None:
    DATA.mkdir(exist_ok=True)
    rng = random.Random(0)
    for name, rows in (("sample", text_problems(rng)), ("sample_images", image_problems(rng))):
        with (DATA / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    (DATA / "README.md").write_text(
        "# Data\n\nWritten by `tools/make_samples.py` of this package; of the project's own making, Apache-2.0.\n"
    )


if __name__ == "__main__":
    main()

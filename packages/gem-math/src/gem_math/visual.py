"""``math:Geometry3K`` and its like: problems with pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

from gem_math.env import MathEnv


class MathVisualEnv(MathEnv):
    """A problem with pictures; the observation is a list of content parts, the pictures before the text.

    ``{"type": "image", "image": "data:image/png;base64,..."}`` and ``{"type": "text", "text": ...}``, which the
    processors of vision-language models take as message content. ``<image>`` marks in the text are left out.

    Args:
        image_key: column with the picture, or the list of pictures, of a row (decoded by ``datasets``, paths, bytes or
            data URIs).

    The other arguments are those of :class:`gem_math.env.MathEnv`.
    """

    def __init__(self, *args: Any, image_key: str = "images", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.image_key = image_key
        self._images = self.table.column(image_key)

    def observe(self, idx: int) -> list[dict[str, str]]:
        text = super().observe(idx).replace("<image>", "").strip()
        images = self._images[idx]
        if not isinstance(images, Sequence) or isinstance(images, (str, bytes)):
            images = [images]
        parts = [{"type": "image", "image": self._data_uri(idx, image)} for image in images]
        return [*parts, {"type": "text", "text": text}]

    def _data_uri(self, idx: int, image: Any) -> str:
        if isinstance(image, str) and image.startswith("data:"):
            return image
        from PIL import Image, UnidentifiedImageError

        try:
            if isinstance(image, dict):
                image = image.get("bytes") or image.get("path")
            if isinstance(image, (bytes, str)):
                image = Image.open(io.BytesIO(image) if isinstance(image, bytes) else image)
            buffer = io.BytesIO()
            image.save(buffer, "PNG")
        except (AttributeError, OSError, UnidentifiedImageError):
            raise self.bad_row(idx, self.image_key, image, "a picture") from None
        return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_images"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._images = self.table.column(self.image_key)

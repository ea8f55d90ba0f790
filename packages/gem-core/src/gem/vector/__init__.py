"""Vector execution: many environments behind one ``reset`` and one ``step``.

:func:`make_vec` makes a :class:`VectorEnv`, in line, on threads, in processes or on a backend that a plugin brings.
"""

from __future__ import annotations

from gem.lazy import lazy_exports

_EXPORTS = {
    "make_vec": "gem.vector.factory",
    "VectorEnv": "gem.vector.base",
    "Results": "gem.vector.base",
    "AutoresetMode": "gem.vector.slot",
    "EnvMaker": "gem.vector.slot",
    "Slot": "gem.vector.slot",
    "VectorConfig": "gem.vector.slot",
}

__all__ = sorted(_EXPORTS)

# Type checkers read these. At run time names are imported on use: a worker process hosts slots and needs no numpy.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from gem.vector.base import Results as Results, VectorEnv as VectorEnv
    from gem.vector.factory import make_vec as make_vec
    from gem.vector.slot import (
        AutoresetMode as AutoresetMode,
        EnvMaker as EnvMaker,
        Slot as Slot,
        VectorConfig as VectorConfig,
    )

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)

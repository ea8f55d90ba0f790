"""``python -m gem_rl`` is ``gem train``."""

from __future__ import annotations

from gem_rl.commands.train import main

raise SystemExit(main())

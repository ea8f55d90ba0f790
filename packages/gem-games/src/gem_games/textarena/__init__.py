"""TextArena's games as ``ta:<id>``: single-player ones as :class:`gem.Env`, others as multi-agent environments."""

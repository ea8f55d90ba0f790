"""All of reasoning-gym for GEM: ``rg:*``."""

__version__ = "0.1.0"

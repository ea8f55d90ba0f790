"""Subcommands that gem-rl adds to ``gem``."""

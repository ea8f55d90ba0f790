"""Tools for agents: Python, search, and servers that speak the Model Context Protocol."""

__version__ = "0.1.0"

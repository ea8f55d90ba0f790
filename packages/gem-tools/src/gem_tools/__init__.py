"""Tools for agents: Python, search, and servers that speak the Model Context Protocol."""

"""Environments over a data set: one row, one question, one graded response."""

from gem.dataset.env import DatasetEnv, Grade
from gem.dataset.loading import Table, load_table

__all__ = ["DatasetEnv", "Grade", "Table", "load_table"]

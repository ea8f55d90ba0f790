"""Text games for GEM. Make them by id, ``gem.make("game:...")``, or import a class from its module."""

__version__ = "0.1.0"

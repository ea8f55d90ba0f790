"""Wrappers: what an agent sees of the history, statistics, limits, rewards."""

from __future__ import annotations

from gem.env import observes
from gem.wrappers.chat import ConcatChat, ConcatChatOnReset
from gem.wrappers.concat import Concat
from gem.wrappers.latest import Latest
from gem.wrappers.messages import ChatMessages, Messages
from gem.wrappers.names import apply_wrappers, get_wrapper_fns, takes_options_of, wrapper_names
from gem.wrappers.reward import RewardClip, RewardScale
from gem.wrappers.statistics import EpisodeStatistics
from gem.wrappers.summary import Summary
from gem.wrappers.template import ChatTemplate
from gem.wrappers.turn_limit import TurnLimit
from gem.wrappers.window import Window

__all__ = [
    "ChatMessages",
    "ChatTemplate",
    "Concat",
    "ConcatChat",
    "ConcatChatOnReset",
    "EpisodeStatistics",
    "Latest",
    "Messages",
    "RewardClip",
    "RewardScale",
    "Summary",
    "TurnLimit",
    "Window",
    "apply_wrappers",
    "get_wrapper_fns",
    "observes",
    "takes_options_of",
    "wrapper_names",
]

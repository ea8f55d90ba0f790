"""TextArena's games as environments: :class:`SingleGame` for one player, :class:`MultiGame` for more."""

from __future__ import annotations

import random
from typing import Any

from gem.env import Env
from gem.errors import ResetNeeded
from gem.multiagent import MultiAgentEnv
from gem_games.textarena.isolation import drawing_from
from gem_games.textarena.loading import Game, load
from gem_games.textarena.match import Match


def _revive(kind: type[_TextArena], game: str, options: dict[str, Any]) -> _TextArena:
    """An empty environment to unpickle into, its game imported before the rest is read."""
    env = kind.__new__(kind)
    env._take(game, options)
    return env


class _TextArena(Env):
    """What both kinds share."""

    state_excludes = (*Env.state_excludes, "game", "game_options", "_game", "_built")
    _game: Game
    _built: Any
    _match: Match | None = None

    def _take(self, game: str, options: dict[str, Any]) -> None:
        self.game = game
        self.game_options = options
        self._game = load(game)
        with drawing_from(random.Random(0)):
            self._built = self._game.build(options)  # what is missing or misspelt is said now

    def _deal(self, num_players: int) -> Match:
        """Begin a game. Seeded as TextArena's own ``reset`` would be, so that it gives the same game."""
        seed = self._next_seed
        if seed is None:
            seed = self.rng.getrandbits(31)
        self._next_seed = None
        return Match(self._game, self._built, self.game_options, num_players, self.rng, seed)

    _next_seed: int | None = None

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self._next_seed = self._seed

    def __reduce__(self) -> Any:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_game", "_built")}
        return _revive, (type(self), self.game, self.game_options), state


class SingleGame(_TextArena):
    """A game of TextArena for one player.

    Observations are what TextArena shows. The reward comes at the end of the game: TextArena's, 1.0 for a win, a share
    of it for what was achieved. ``info["invalid_action"]`` is the game's reason; after one more invalid move in a row
    the game is lost. ``truncated``: the turn limit ended it, or the game's own code failed (``info["error"]``).

    Args:
        game: an id of TextArena.
        **options: options of the game's class in TextArena, over those of the id.

    Raises:
        gem.MissingDependency: the game needs a word list, a key, a package or a newer Python.
        TypeError: the game has no such option.
    """

    def __init__(self, game: str, **options: Any) -> None:
        super().__init__()
        self._take(game, options)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a game. ``options`` is not used."""
        super().reset(seed=seed, options=options)
        self._match = self._deal(1)
        return self._match.text(0), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, the agent's whole response; got {type(action).__name__}")
        match = self._match
        if match is None or match.over:
            raise ResetNeeded
        invalid = match.act(self._game, action)
        info: dict[str, Any] = {}
        if invalid is not None:
            info["invalid_action"] = invalid
        if match.over:
            info.update(match.ending(0))
        return match.text(0), match.reward(0), match.over and not match.truncated, match.truncated, info

    def sample_random_action(self) -> str:
        """A guess at an action, of the form the observation shows: TextArena does not list a game's moves."""
        if self._match is None:
            raise ResetNeeded
        return self._match.some_action(self._game.family.name, 0, self.rng)


class MultiGame(_TextArena, MultiAgentEnv):
    """A game of TextArena for several players, ``player_0``, ``player_1`` and so on.

    They act in TextArena's order, one at a time: where moves are simultaneous in the game, it asks each player in turn
    and shows nobody the others' before all have answered. Rewards come at the end, TextArena's. All stay to the end.

    Args:
        game: an id of TextArena.
        num_players: how many play.
        **options: options of the game's class in TextArena, over those of the id.

    Raises:
        gem.MissingDependency: the game needs a word list, a key, a package or a newer Python.
        TypeError: the game has no such option.
        ValueError: it is not for that many players.
    """

    def __init__(self, game: str, num_players: int = 2, **options: Any) -> None:
        low, high = load(game).family.players
        if isinstance(num_players, bool) or not isinstance(num_players, int) or not low <= num_players <= high:
            players = f"{low}" if low == high else f"{low} to {high}"
            raise ValueError(f"'ta:{game}' is for {players} players, got num_players={num_players!r}")
        MultiAgentEnv.__init__(self, [f"player_{i}" for i in range(num_players)], mode="sequential")
        self.num_players = num_players
        self._take(game, options)
        with drawing_from(random.Random(0)):
            self._game.try_out(self._built, options, num_players)

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self._match = self._deal(self.num_players)
        self._give_turn()

    def _give_turn(self) -> None:
        assert self._match is not None
        self.agent_selector.select(self.possible_agents[self._match.current])

    def observe(self, agent: str) -> str:
        assert self._match is not None
        return self._match.text(self.possible_agents.index(agent))

    def _process_actions(self, actions: dict[str, str]) -> Any:
        match = self._match
        assert match is not None
        ((agent, action),) = actions.items()
        invalid = match.act(self._game, action)
        infos: dict[str, dict[str, Any]] = {a: {} for a in self.agents}
        if invalid is not None:
            infos[agent]["invalid_action"] = invalid
        if not match.over:
            self._give_turn()
            return {}, {}, {}, {}, infos
        players = {a: self.possible_agents.index(a) for a in self.agents}
        for a, player in players.items():
            infos[a].update(match.ending(player))
        rewards = {a: match.reward(player) for a, player in players.items()}
        over = dict.fromkeys(self.agents, True)
        return ({}, rewards, {}, over, infos) if match.truncated else ({}, rewards, over, {}, infos)

    def sample_agent_action(self, agent: str) -> str:
        """A guess at an action, of the form the observation shows: TextArena does not list a game's moves."""
        if self._match is None:
            raise ResetNeeded
        return self._match.some_action(self._game.family.name, self.possible_agents.index(agent), self.rng)

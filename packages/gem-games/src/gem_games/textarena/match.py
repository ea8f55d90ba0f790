"""One game of TextArena being played."""

from __future__ import annotations

import random
import re
from typing import Any

from gem_games.textarena.isolation import drawing_from
from gem_games.textarena.loading import Game
from gem_games.textarena.moves import random_move
from gem_games.textarena.views import View

_LIMIT = re.compile(r"\b(turn|move) limit\b|\bmaximum number of turns\b", re.IGNORECASE)


#: Invalid moves in a row that end a game: some of TextArena's ask the same player again for ever.
MOST_INVALID = 25


class Tap:
    """Stands in front of a method of TextArena's state, and keeps what went through it in the step under way."""

    def __init__(self, state: Any, name: str) -> None:
        self.state = state
        self.name = name
        self.calls: list[tuple[Any, Any]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 2 and isinstance(args[1], str):  # a few games hand over reward and reason in that order
            args = args[::-1]
        result = getattr(type(self.state), self.name)(self.state, *args, **kwargs)
        self.calls.append((kwargs.get("reason", args[0] if args else None), result))
        return result


class Survivors(Tap):
    """Ends a game that has eliminated everybody: TextArena would look for whose turn it is for ever."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        eliminated = getattr(self.state, "elimination_order", ())
        if not self.state.done and len(set(eliminated)) >= self.state.num_players:
            self.state.set_draw(reason="All players were eliminated.")
        return getattr(type(self.state), self.name)(self.state, *args, **kwargs)


class Match:
    """One game from its first move to its last.

    Args:
        game: what to play.
        built: a game built before.
        options: options over those of the id.
        num_players: how many play.
        rng: the generator it draws from, and keeps.
        seed: what TextArena seeds it with.
    """

    def __init__(
        self, game: Game, built: Any, options: dict[str, Any], num_players: int, rng: random.Random, seed: int
    ) -> None:
        self.rng = rng
        self.players = range(num_players)
        with drawing_from(rng):
            self.env = game.begin(built, options, num_players, seed)
        state = self.env.state
        self._views: list[View] = [game.view() for _ in self.players]
        self._invalid = self._tap("set_invalid_move")
        self._limit = self._tap("check_turn_limit")
        self._tap("step", Survivors)
        self.over = bool(state.done)
        #: Why TextArena's own code failed, where it did.
        self.error: str | None = None
        self.truncated = False
        self._invalid_in_a_row = 0
        self._deliver()

    def _tap(self, name: str, kind: type[Tap] = Tap) -> Tap:
        tap = kind(self.env.state, name)
        if hasattr(type(self.env.state), name):
            setattr(self.env.state, name, tap)
        return tap

    # -- playing --------------------------------------------------------------------------------------

    @property
    def current(self) -> int:
        """The player whose turn it is."""
        return int(self.env.state.current_player_id)

    def act(self, game: Game, action: str) -> str | None:
        """The current player acts. Returns why the action was not carried out, ``None`` where it was."""
        player = self.current
        self._views[player].acted()
        self._invalid.calls.clear()
        self._limit.calls.clear()
        try:
            with drawing_from(self.rng):
                done, _ = self.env.step(action=game.read(action))
        except Exception as error:  # a flaw in the game; the action is one that any agent may write
            self.over = self.truncated = True
            self.error = f"TextArena's {type(self.env).__name__} failed on this action: {type(error).__name__}: {error}"
            self.error = " ".join(self.error.split())
            return None
        self.over = bool(done or self.env.state.done)
        if self.over:
            reached = any(result for _, result in self._limit.calls)
            self.truncated = bool(reached or _LIMIT.search(self.reason(player)))
        self._invalid_in_a_row = self._invalid_in_a_row + 1 if self._invalid.calls else 0
        if self._invalid_in_a_row >= MOST_INVALID:
            self.over = self.truncated = True
        self._deliver()
        if self._invalid.calls:
            return " ".join(str(self._invalid.calls[-1][0]).split()) or "not a valid move"
        return None

    def _deliver(self) -> None:
        """Hand each player the messages that TextArena keeps for it."""
        state = self.env.state
        if not self.over:
            with drawing_from(self.rng):
                player, messages = self.env.get_observation()  # a few games add to the messages here
            self._show(player, messages)
        for player in self.players:
            messages = state.observations.get(player)
            if messages:
                state.observations[player] = []
                self._show(player, messages)

    def _show(self, player: int, messages: Any) -> None:
        roles = self.env.state.role_mapping
        view = self._views[player]
        for sender, text, kind in messages:
            if hasattr(sender, "name"):  # a few games hand these three over in another order
                sender, text, kind = text, kind, sender
            view.add("GAME" if sender == -1 else roles.get(sender, f"Player {sender}"), str(text), kind.name)

    # -- what came of it ------------------------------------------------------------------------------

    def text(self, player: int) -> str:
        """What a player sees."""
        return self._views[player].text()

    def reward(self, player: int) -> float:
        """What a player earned: nothing before the end."""
        rewards = self.env.state.rewards if self.over and self.error is None else None
        return float((rewards or {}).get(player, 0.0))

    def reason(self, player: int) -> str:
        """Why the game ended, for a player, in TextArena's words."""
        if self._invalid_in_a_row >= MOST_INVALID:
            return f"{MOST_INVALID} invalid moves in a row."
        info = getattr(self.env.state, "game_info", {}).get(player, {})
        return " ".join(str(info.get("reason") or "").split())

    def ending(self, player: int) -> dict[str, Any]:
        """What ``info`` says about the end, for a player."""
        info: dict[str, Any] = {"success": not self.truncated and self.reward(player) >= 1.0}
        if self.error is not None:
            info["error"] = self.error
        elif self.reason(player):
            info["reason"] = self.reason(player)
        return info

    def some_action(self, family: str, player: int, rng: random.Random) -> str:
        """A guess at an action."""
        return random_move(family, self.text(player), ["GAME", *map(str, self.env.state.role_mapping.values())], rng)

"""The ids of this package's ``ta`` namespace: one for every id of the installed TextArena, which is not imported."""

from __future__ import annotations

from collections.abc import Iterator

from gem import EnvSpec, hookimpl
from gem_games.textarena.families import family
from gem_games.textarena.registry import Entry, entries, folder, registered_here


def _spec(entry: Entry) -> EnvSpec:
    game = family(entry)
    players = "one player" if game.single else "-".join(map(str, dict.fromkeys(game.players))) + " players"
    return EnvSpec(
        id=f"ta:{entry.id}",
        entry_point=f"gem_games.textarena.envs:{'SingleGame' if game.single else 'MultiGame'}",
        kwargs={"game": entry.id} if game.single else {"game": entry.id, "num_players": game.players[0]},
        description=f"TextArena: {game.name}, {players}",
        reward_range=game.reward_range,
        deterministic=not game.online,
        multi_agent=not game.single,
        requires=("network",) if game.online else (),
        extra="textarena",
        tags=("textarena", game.name),
    )


@hookimpl
def gem_env_specs() -> Iterator[EnvSpec]:
    return map(_spec, entries())


@hookimpl
def gem_find_env_spec(env_id: str) -> EnvSpec | None:
    namespace, _, game = env_id.partition(":")
    if namespace != "ta":
        return None
    if folder() is None:  # what it is cannot be known; making it says what to install
        return _spec(Entry(game, "textarena.envs.unknown:Unknown"))
    entry = registered_here(game)
    return _spec(entry) if entry is not None else None

import pytest

import gem
from gem_games.plugin import gem_env_specs

IDS = [spec.id for spec in gem_env_specs()]


@pytest.mark.parametrize("env_id", IDS)
def test_every_id_is_made_by_name(env_id):
    with gem.make(env_id) as env:
        observation, info = env.reset(seed=0)
        assert isinstance(observation, str)
        assert isinstance(info["suffix"], str)
        env.step(env.sample_random_action())
        assert env.env_id == env_id


def test_every_game_has_the_common_levels():
    games = {env_id.rpartition("-v0-")[0] for env_id in IDS}
    assert {f"{name}-v0-{level}" for name in games for level in ("easy", "hard")} <= set(IDS)
    assert {f"{name}-v0-random" for name in games - {"game:WikiGame"}} <= set(IDS)


def test_unknown_options_and_levels_are_named():
    with pytest.raises(TypeError, match="max_trun"):
        gem.make("game:GuessTheNumber-v0-easy", max_trun=3)
    with pytest.raises(gem.UnknownEnv, match="GuessTheNumber-v0-hard"):
        gem.make("game:GuessTheNumber-v0-hrd")

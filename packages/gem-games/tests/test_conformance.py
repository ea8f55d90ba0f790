from gem.testing import EnvSuite


class TestGames(EnvSuite):
    namespace = "game"
    strict = True

from gem.testing import EnvSuite


class TestSinglePlayer(EnvSuite):
    env_ids = ("ta:GuessTheNumber-v0", "ta:Minesweeper-v0-small", "ta:2048-v0-ultra-easy-raw", "ta:Bandit-v0")
    episodes = 2
    max_steps = 40


class TestMultiPlayer(EnvSuite):
    env_ids = ("ta:TicTacToe-v0", "ta:ConnectFour-v0-raw", "ta:Snake-v0", "ta:Poker-v0-small-train")
    episodes = 2
    max_steps = 40

"""What TextArena's source does not say in one place about its games."""

from __future__ import annotations

from dataclasses import dataclass

from gem_games.textarena.registry import Entry, folder

# fmt: off
#: Families for one player.
SINGLE = frozenset((
    "BabyAiText", "Bandit", "Blackjack", "Countdown", "Crosswords", "Cryptarithm", "FifteenPuzzle", "FrozenLake",
    "Game2048", "GuessTheNumber", "GuessWho", "Hangman", "Klondike", "LightsOut", "LogicPuzzle", "Mastermind",
    "Minesweeper", "PegJump", "RushHour", "Secretary", "Set", "Slitherlink", "Sokoban", "Sudoku", "ThreeCardMonte",
    "TowerOfHanoi", "TwentyQuestions", "UltimateTexasHoldem", "WordLadder", "WordSearch", "Wordle",
))
# fmt: on

#: Families that are not for exactly two -> the fewest and the most players.
PLAYERS = {
    "Briscola": (2, 4),
    "CharacterConclave": (3, 15),
    "Codenames": (4, 4),
    "Golf": (2, 4),
    "LiarsDice": (2, 15),
    "MarketEntryGame": (2, 15),
    "Poker": (2, 15),
    "PublicGoodsGame": (2, 15),
    "Santorini": (2, 3),
    "ScorableGames": (2, 15),
    "SecretMafia": (6, 15),
    "SettlersOfCatan": (4, 4),
    "Snake": (2, 15),
    "Surround": (2, 15),
    "Taboo": (4, 6),
    "ThreePlayerGOPS": (3, 3),
    "ThreePlayerIPD": (3, 3),
    "ThreePlayerTicTacToe": (3, 3),
}

#: Families that ask a language model over the network.
ONLINE = frozenset({"Debate", "GuessWho", "ScenarioPlanning", "TwentyQuestions"})

# fmt: off
#: Families that read word lists when they are built, which takes long, and hold nothing that an episode changes.
REUSED = frozenset((
    "Codenames", "DontSayIt", "Hangman", "SpellingBee", "WordChains", "WordLadder", "WordSearch", "Wordle",
))
# fmt: on

#: Families that draw from a list made of a set, whose order depends on PYTHONHASHSEED -> that list.
UNORDERED = {"WordChains": "word_list"}

#: Families whose rewards leave -1 to 1 -> their bounds. Set's is the score; Poker's ranks a player twice at times.
REWARDS = {"Klondike": (-1.0, 52.0), "Poker": (-1.0, float("inf")), "Set": (-1.0, 20.0)}


@dataclass(frozen=True, slots=True)
class Family:
    """What is known about one game of TextArena."""

    name: str
    players: tuple[int, int]
    online: bool = False
    reward_range: tuple[float, float] = (-1.0, 1.0)

    @property
    def single(self) -> bool:
        """Whether one player plays alone."""
        return self.players == (1, 1)


def family(entry: Entry) -> Family:
    """What is known about the game of an id."""
    name = entry.family
    if name in SINGLE:
        players = (1, 1)
    elif name in PLAYERS:
        players = PLAYERS[name]
    else:
        players = _players_in_source(entry)
    return Family(name, players, name in ONLINE, REWARDS.get(name, (-1.0, 1.0)))


def _players_in_source(entry: Entry) -> tuple[int, int]:
    """How many play a game that is not listed here: what kind of state its module builds."""
    where = folder()
    if where is not None and entry.family not in TWO:
        path = where.parent / (entry.entry_point.partition(":")[0].replace(".", "/") + ".py")
        source = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        if "SinglePlayerState(" in source:
            return 1, 1
        if "TwoPlayerState(" not in source:
            return 2, 15
    return 2, 2


# fmt: off
#: Families for exactly two players.
TWO = frozenset((
    "Alquerque", "Battleship", "Breakthrough", "Checkers", "Chess", "Chopsticks", "ColonelBlotto", "ConnectFour",
    "Crusade", "Debate", "DontSayIt", "GameOfPureStrategy", "GermanWhist", "HighSociety", "IndianPoker",
    "IteratedMatchingPennies", "IteratedPrisonersDilemma", "IteratedRockPaperScissors", "IteratedStagHunt",
    "IteratedTwoThirdsAverage", "IteratedUltimatumGame", "KuhnPoker", "LeTruc", "LetterAuction", "LinesOfAction",
    "MemoryGame", "NewRecruit", "Nim", "Othello", "PigDice", "QuantumTicTacToe", "ReverseTicTacToe",
    "ScenarioPlanning", "SimpleBlindAuction", "SimpleNegotiation", "SimpleTak", "SpellingBee", "SpiteAndMalice",
    "Stratego", "Tak", "TicTacToe", "TruthAndDeception", "TwoDollar", "UltimateTicTacToe", "UsedCar",
    "UsedCarNegotiation", "WildTicTacToe", "WordChains",
))
# fmt: on

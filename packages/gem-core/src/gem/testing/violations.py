"""The rules an environment conforms to, each with a stable code, and what a broken one is reported as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing every environment does. Codes never change their meaning; a retired one is not used again."""

    code: str
    #: A short name for test ids and tables.
    name: str
    #: What holds for a conforming environment.
    meaning: str
    #: How to mend an environment that breaks it.
    mend: str
    #: Advice is only reported under ``strict``: the environment works, its users would be better served.
    advice: bool = False


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an environment breaks, and how that showed."""

    code: str
    env_id: str
    message: str

    @property
    def rule(self) -> Rule:
        return RULES[self.code]

    @property
    def mend(self) -> str:
        """How to mend it."""
        return self.rule.mend

    def __str__(self) -> str:
        return f"{self.code} {self.env_id}: {self.message}; {self.mend}"

    def to_dict(self) -> dict[str, str]:
        """A JSON-able dictionary."""
        return {
            "code": self.code,
            "name": self.rule.name,
            "env_id": self.env_id,
            "message": self.message,
            "mend": self.mend,
        }


_TABLE = [
    # -- 1: making one, and what the specification says ------------------------------------------------
    Rule("GEM101", "make", "making it does not raise", "mend the constructor or the arguments in the EnvSpec"),
    Rule("GEM102", "env-type", "it is a gem.Env", "inherit from gem.Env, or gem.MultiAgentEnv for several agents"),
    Rule("GEM103", "hang", "no call takes longer than the time limit", "bound every loop and wait"),
    Rule(
        "GEM104",
        "unknown-option",
        "an option it does not have is a TypeError that names the option",
        "list the constructor's options by name instead of swallowing **kwargs",
    ),
    Rule("GEM105", "spec-agents", "EnvSpec.multi_agent says which interface it has", "set multi_agent in the EnvSpec"),
    Rule(
        "GEM106",
        "spec-modalities",
        "observations hold only the kinds of part that EnvSpec.modalities lists",
        'add the missing kind to modalities, as in modalities=("text", "image")',
    ),
    Rule(
        "GEM107",
        "spec-json",
        "the EnvSpec survives a round trip through JSON",
        "keep kwargs and the other fields to JSON types; name the class as 'module:Class'",
    ),
    Rule(
        "GEM108",
        "reward-range",
        "an episode's summed reward lies within EnvSpec.reward_range",
        "correct the rewards or the reward_range in the EnvSpec",
    ),
    Rule(
        "GEM109",
        "turn-limit",
        "an episode ends at the latest with turn EnvSpec.max_turns",
        "return truncated=True from the last turn, or correct max_turns in the EnvSpec",
    ),
    Rule(
        "GEM121",
        "spec-description",
        "the EnvSpec has a description",
        "write one line that says what the agent has to do",
        advice=True,
    ),
    Rule(
        "GEM122",
        "spec-reward-range",
        "the EnvSpec bounds an episode's summed reward",
        "set reward_range, so that trainers can scale and evaluators can check",
        advice=True,
    ),
    Rule(
        "GEM123",
        "truncated-at-limit",
        "an episode that the turn limit cuts off is truncated, not terminated",
        "return terminated=False, truncated=True when nothing but the limit ended the episode",
        advice=True,
    ),
    # -- 2: what reset and step return -----------------------------------------------------------------
    Rule("GEM201", "reset-raises", "reset does not raise", "mend reset"),
    Rule("GEM202", "reset-pair", "reset returns (observation, info)", "return a tuple of two"),
    Rule(
        "GEM203",
        "step-five",
        "step returns (observation, reward, terminated, truncated, info)",
        "return a tuple of five",
    ),
    Rule(
        "GEM204",
        "observation",
        "an observation is a str or a list of text and image parts",
        'return text, or parts such as {"type": "text", "text": "..."} and {"type": "image", "image": <data URI>}',
    ),
    Rule("GEM205", "reward", "a reward is a finite float or int", "return float(reward)"),
    Rule("GEM206", "end-flags", "terminated and truncated are bools", "return bool(terminated), bool(truncated)"),
    Rule(
        "GEM207",
        "both-flags",
        "terminated and truncated are never both true",
        "truncate only an episode that its task did not end",
    ),
    Rule("GEM208", "info-dict", "info is a dict with str keys", "return a dict whose keys are all str"),
    Rule(
        "GEM209",
        "info-json",
        "info can be written as JSON and read back",
        "keep to str, finite numbers, bool, None, and lists and dicts of those (no numpy values)",
    ),
    Rule(
        "GEM210", "info-prefix-suffix", 'info["prefix"] and info["suffix"] are str', "make them str, or leave them out"
    ),
    Rule(
        "GEM211",
        "info-metrics",
        'info["metrics"] maps names to finite floats',
        'return {"metrics": {"name": float(value)}}',
    ),
    Rule(
        "GEM212",
        "info-success",
        'info["success"] is a bool, there exactly when the episode has ended',
        'set info["success"] to True or False on the step that ends the episode, and only there',
    ),
    Rule(
        "GEM213",
        "info-invalid-action",
        'info["invalid_action"] is the reason as a non-empty str, absent when the action was carried out',
        'write why the action was not carried out into info["invalid_action"], or leave the key out',
    ),
    Rule(
        "GEM214",
        "keywords",
        "reset(seed=..., options=...) and step(action=...) work by keyword",
        "name the parameters seed, options and action",
    ),
    # -- 3: the course of an episode --------------------------------------------------------------------
    Rule(
        "GEM301",
        "step-before-reset",
        "step before the first reset raises gem.ResetNeeded",
        "raise gem.ResetNeeded while no episode is under way",
    ),
    Rule(
        "GEM302",
        "step-after-end",
        "step after the end of an episode raises gem.ResetNeeded",
        "remember that the episode has ended and raise gem.ResetNeeded",
    ),
    Rule(
        "GEM303",
        "action-type",
        "an action that is not a str raises TypeError",
        "raise TypeError for None, bytes and anything else but str",
    ),
    Rule(
        "GEM304",
        "action-type-turn",
        "an action that raised TypeError leaves the episode as it was",
        "check the type of the action before anything is changed",
    ),
    Rule(
        "GEM305",
        "any-text",
        "any str is an action, whatever is in it",
        "treat what cannot be read as a bad move: reward and info['invalid_action'], not an exception",
    ),
    Rule(
        "GEM306",
        "random-action",
        "sample_random_action returns a str that step can read",
        "return an action in the form that step parses, or raise NotImplementedError where there is none",
    ),
    Rule(
        "GEM307",
        "random-action-rng",
        "random actions come from the instance's own generator",
        "draw from self.rng in sample_random_action",
    ),
    Rule(
        "GEM308",
        "reset-midway",
        "reset in the middle of an episode begins a new one",
        "set everything an episode changes back in reset",
    ),
    Rule(
        "GEM309", "reset-options", "reset accepts options=None and options={}", "treat an empty options as none given"
    ),
    # -- 4: reproducibility -----------------------------------------------------------------------------
    Rule(
        "GEM401",
        "global-random-read",
        "the global generators of random and numpy do not influence it",
        "draw from self.rng or self.np_random",
    ),
    Rule(
        "GEM402",
        "global-random-written",
        "the global generators of random and numpy stay as they were",
        "never seed or draw from the global generators; use self.rng or self.np_random",
    ),
    Rule(
        "GEM403",
        "same-seed",
        "the same seed and actions give the same episode in two fresh instances",
        "draw from self.rng only, and call super().reset(seed=seed) first",
    ),
    Rule(
        "GEM404",
        "episode-leak",
        "an episode with a seed does not depend on the instance's earlier episodes",
        "set everything an episode changes back in reset",
    ),
    Rule(
        "GEM405",
        "shared-randomness",
        "two instances stepped in turn do not influence each other",
        "keep generators and state on the instance, not on the class or module",
    ),
    Rule(
        "GEM406",
        "thread",
        "it runs in a thread, and gives the same episode there",
        "use nothing that only works in the main thread, such as signals",
    ),
    Rule(
        "GEM407",
        "asyncio",
        "it runs inside a running asyncio loop, and gives the same episode there",
        "run coroutines on a loop of its own in a thread, not with asyncio.run in the caller's",
    ),
    Rule(
        "GEM408",
        "other-process",
        "another process with another hash seed gives the same episode",
        "sort sets before drawing from them; use neither hash(), id(), the clock nor the process id",
    ),
    Rule(
        "GEM409",
        "seed-types",
        "any non-negative integer is a seed, numpy's and big ones too, and a numpy one means the same as an int",
        "pass the seed to super().reset(seed=seed) unchanged",
    ),
    Rule("GEM410", "seed-negative", "a negative seed raises ValueError", "pass the seed to super().reset(seed=seed)"),
    Rule(
        "GEM411",
        "seed-not-integer",
        "a seed that is no integer raises TypeError",
        "pass it to super().reset(seed=seed)",
    ),
    Rule(
        "GEM412",
        "unseeded-reset",
        "episodes after a seeded one, begun without a seed, are reproducible too",
        "go on with the generator as it stands when the seed is None",
    ),
    Rule(
        "GEM421", "backend-sync", "the sync vector backend gives the same episode", "see the message for what differs"
    ),
    Rule(
        "GEM422", "backend-thread", "the thread vector backend gives the same episode", "make it independent of threads"
    ),
    Rule(
        "GEM423",
        "backend-process",
        "the process vector backend gives the same episode",
        "make it independent of the process; name its class as 'module:Class' in an importable module",
    ),
    # -- 5: state and life --------------------------------------------------------------------------------
    Rule("GEM501", "close", "close may be called twice, and before reset", "make close idempotent"),
    Rule(
        "GEM502",
        "context-manager",
        "`with env as e` gives env itself and closes it",
        "leave __enter__ and __exit__ to gem.Env",
    ),
    Rule(
        "GEM503",
        "pickle",
        "pickled in mid-episode, the copy and the original go on identically",
        "hold no locks, generators, lambdas or open files, or say how to pickle them in __getstate__",
    ),
    Rule(
        "GEM504",
        "deepcopy",
        "copied with copy.deepcopy in mid-episode, the copy and the original go on identically",
        "hold nothing that cannot be copied, and share nothing that changes",
    ),
    Rule(
        "GEM505",
        "state",
        "set_state(get_state()) goes back to that very moment, in this instance and in a fresh one",
        "put everything that an episode changes into the state, the generators included, as copies",
    ),
    Rule(
        "GEM506",
        "state-not-supported",
        "where state cannot be had, get_state raises gem.StateNotSupported",
        "raise gem.StateNotSupported",
    ),
    Rule(
        "GEM507",
        "spawn",
        "spawn gives a new instance with the same options, and with same_state=True the same moment",
        "leave spawn to gem.Env, or pass every option on",
    ),
    Rule(
        "GEM508",
        "aliased-out",
        "an observation or info that was returned does not change later",
        "return copies of lists and dicts that the environment goes on changing",
    ),
    Rule(
        "GEM509",
        "aliased-in",
        "changing a returned observation or info does not change the environment",
        "return copies of lists and dicts that the environment goes on using",
    ),
    # -- 6: the process around it -----------------------------------------------------------------------
    Rule(
        "GEM601",
        "network",
        "it opens no network connection unless EnvSpec.requires says so",
        'ship the data or take a path as option, or add "network" to requires',
    ),
    Rule("GEM602", "cwd", "the working directory stays as it was", "use absolute paths instead of os.chdir"),
    Rule("GEM603", "files", "after close no file is left behind outside the cache folder", "delete the file in close"),
    Rule("GEM604", "environ", "the environment variables stay as they were", "pass settings as arguments"),
    Rule("GEM605", "threads", "after close no thread is left running", "stop and join the thread in close"),
    Rule("GEM606", "processes", "after close no process is left running", "end and wait for the process in close"),
    Rule("GEM607", "signals", "the signal handlers stay as they were", "leave signals to the program"),
    Rule("GEM608", "warnings", "the warning filters stay as they were", "use warnings.catch_warnings around the call"),
    Rule(
        "GEM609",
        "logging",
        "the configuration of logging stays as it was",
        "log through your own logger and set up none",
    ),
    Rule("GEM610", "silent", "nothing is printed", "use logging, or put it into the observation"),
    # -- 7: wrappers ----------------------------------------------------------------------------------------
    Rule(
        "GEM701",
        "wrapper-reset-keywords",
        "a wrapper's reset passes keywords it does not know to the inner environment",
        "take **kwargs in reset and pass them on",
    ),
    Rule(
        "GEM702",
        "wrapper-stale",
        "a wrapper shows the inner environment's attributes as they are now",
        "copy no attributes; gem.Wrapper reads them live",
    ),
    Rule(
        "GEM703",
        "wrapped",
        "inside a plain gem.Wrapper it gives the same episode",
        "do not rely on being the outermost environment",
    ),
    # -- 8: several agents --------------------------------------------------------------------------------
    Rule(
        "GEM801",
        "agents-keyed",
        "reset and step of several agents return dictionaries of the same agents",
        "key observations, rewards, flags and infos by agent, with the same keys in each",
    ),
    Rule(
        "GEM802",
        "agents-turn",
        "an action of an agent that does not exist, and one that is missing, is a ValueError that names the agent",
        "leave step to gem.MultiAgentEnv and implement _process_actions",
    ),
]

#: Code -> rule, in the order of the codes.
RULES: dict[str, Rule] = {rule.code: rule for rule in _TABLE}

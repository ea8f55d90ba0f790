"""One episode: the driver that says what to generate next, and the record of what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from gem.rollout.records import Response, TaskSpec, Turn, plain
from gem.rollout.rows import Row, flatten
from gem.wording import short


class Episode:
    """An episode without I/O: the caller moves text between policy and environment, the episode keeps the record.

    ::

        episode = Episode(task)
        observation = episode.begin(*task.reset(env))
        while not episode.done:
            action = episode.respond(policy(observation))
            if action is not None:
                observation = episode.advance(*env.step(action))

    It neither waits nor calls anything, so collectors, evaluators and trainers outside drive it alike.

    Args:
        task: what is played; kept in the record.
        episode_id, group_id: names the caller chooses; episodes of one group start from the same task.
        max_turns: truncate after this many turns.
        max_response_tokens: the most tokens one response may have.
        max_episode_tokens: the most tokens the policy may sample in the whole episode.
    """

    def __init__(
        self,
        task: TaskSpec | None = None,
        *,
        episode_id: str = "",
        group_id: str = "",
        max_turns: int | None = None,
        max_response_tokens: int | None = None,
        max_episode_tokens: int | None = None,
    ) -> None:
        self.task = task
        self.episode_id = episode_id
        self.group_id = group_id
        self.max_turns = max_turns
        self.max_response_tokens = max_response_tokens
        self.max_episode_tokens = max_episode_tokens
        #: The turns so far, in order.
        self.turns: list[Turn] = []
        #: What there is to answer; after the end, the last observation (what a critic bootstraps from).
        self.observation: Any = None
        #: The ``info`` that came with :attr:`observation`.
        self.info: dict[str, Any] = {}
        #: Why the episode could not be played to its end; such an episode has no return.
        self.error: str | None = None
        #: ``None`` while it runs, then ``"terminated"``, ``"truncated"``, ``"length"`` (out of tokens) or ``"error"``.
        self.finish_reason: str | None = None
        #: How many tokens the policy sampled so far.
        self.response_tokens = 0
        self._response: Response | None = None
        self._begun = False

    # -- driving --------------------------------------------------------------------------------------

    def begin(self, observation: Any, info: dict[str, Any] | None = None) -> Any:
        """Take what ``reset`` returned; returns the observation to answer.

        ``None`` where ``info`` has the key ``"error"``: the environment is broken, and the episode has failed.
        """
        if self._begun:
            raise RuntimeError("this episode has begun already: make a new Episode for each reset")
        self._begun = True
        self.observation = observation
        self.info = info if info is not None else {}
        if "error" in self.info:
            self.fail(str(self.info["error"]))
            return None
        return observation

    def respond(self, response: Response | str) -> str | None:
        """Take the policy's response; returns the action to step the environment with.

        ``None`` when there is nothing to step: the response is empty with finish reason ``"length"``, which is how
        a policy says that the prompt leaves no room for a response. The episode has then ended.

        Token ids and log-probabilities may be any sequence, array or tensor; the record has lists.

        Raises:
            TypeError: the response is neither a ``str`` nor a :class:`Response`.
            ValueError: there is not one log-probability for each sampled id.
        """
        if not self._begun:
            raise RuntimeError("the episode has not begun: call begin(observation, info) first")
        if self.finish_reason is not None:
            raise RuntimeError(f"the episode has ended ({self.finish_reason}): it takes no more responses")
        if self._response is not None:
            raise RuntimeError("the last response was not stepped: call advance(*env.step(action)) first")
        if isinstance(response, str):
            response = Response(response)
        elif not isinstance(response, Response) or not isinstance(response.text, str):
            raise TypeError(f"a response must be a str or a gem.Response with text, got {short(response)}")
        if response.finish_reason == "length" and not response.text and not _listed(response.response_ids):
            if self.turns:
                self._cut("length")
            else:
                self.fail("the first prompt leaves no room for a response: raise the token limits")
            return None
        if response.response_ids is not None or response.logprobs is not None or response.prompt_ids is not None:
            response = _checked(response)
        self._response = response
        return response.text

    def advance(
        self, observation: Any, reward: float, terminated: bool, truncated: bool, info: dict[str, Any] | None = None
    ) -> Any:
        """Take what ``step`` returned; returns the next observation to answer, or ``None`` at the end.

        An ``info`` with the key ``"error"`` (vector execution reports a broken environment so) fails the episode.
        """
        response = self._response
        if response is None:
            raise RuntimeError("there is no response to advance from: call respond(response) first")
        self._response = None
        if info is None:
            info = {}
        if "error" in info:
            self.fail(str(info["error"]))
            return None
        turn = Turn(
            observation=self.observation,
            response=response.text,
            reward=float(reward),
            terminated=bool(terminated),
            truncated=bool(truncated),
            info=info,
            prompt_ids=response.prompt_ids,
            response_ids=response.response_ids,
            logprobs=response.logprobs,
            finish_reason=response.finish_reason,
            extra=response.extra,
        )
        self.turns.append(turn)
        if response.response_ids is not None:
            self.response_tokens += len(response.response_ids)
        self.observation = observation
        self.info = info
        if terminated:
            self.finish_reason = "terminated"
        elif truncated:
            self.finish_reason = "truncated"
        elif self.max_turns is not None and len(self.turns) >= self.max_turns:
            self._cut("truncated")
        elif self.max_tokens == 0:
            self._cut("length")
        return None if self.finish_reason is not None else observation

    def fail(self, error: str) -> None:
        """End the episode because its environment failed; learners drop it and count it."""
        self._begun = True
        self._response = None
        self.error = error
        self.finish_reason = "error"

    def _cut(self, reason: str) -> None:
        self.finish_reason = reason
        self.turns[-1].truncated = True

    # -- reading --------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether there is nothing more to answer."""
        return self.finish_reason is not None

    @property
    def max_tokens(self) -> int | None:
        """The most tokens the next response may have; ``None``: no limit."""
        if self.max_episode_tokens is None:
            return self.max_response_tokens
        left = max(0, self.max_episode_tokens - self.response_tokens)
        return left if self.max_response_tokens is None else min(left, self.max_response_tokens)

    @property
    def total_reward(self) -> float:
        """The undiscounted sum of rewards."""
        return sum(turn.reward for turn in self.turns)

    @property
    def success(self) -> bool | None:
        """What the environment reported at the end; cut off before it reported anything is no success.

        ``None`` where it reports nothing, or has not yet.
        """
        success = self.info.get("success")
        if success is None:
            return False if self.finish_reason in ("truncated", "length") else None
        return bool(success)

    def returns(self, gamma: float = 1.0) -> list[float]:
        """The discounted return of each turn, ``[T]``: ``G_t = r_t + gamma * G_{t+1}``."""
        future = 0.0
        returns = []
        for turn in reversed(self.turns):
            future = turn.reward + gamma * future
            returns.append(future)
        returns.reverse()
        return returns

    def flat(self) -> list[Row]:
        """The episode as token sequences: one, where every prompt extends the turn before; see :class:`Row`.

        Raises:
            ValueError: a turn has no token ids.
        """
        return flatten(self.turns)

    # -- travelling -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-able data; :meth:`from_dict` is its inverse."""
        return {
            "task": self.task.to_dict() if self.task is not None else None,
            "episode_id": self.episode_id,
            "group_id": self.group_id,
            "max_turns": self.max_turns,
            "max_response_tokens": self.max_response_tokens,
            "max_episode_tokens": self.max_episode_tokens,
            "turns": [turn.to_dict() for turn in self.turns],
            "observation": plain(self.observation),
            "info": self.info,
            "error": self.error,
            "finish_reason": self.finish_reason,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        task = record["task"]
        episode = cls(
            TaskSpec(**task) if task is not None else None,
            episode_id=record["episode_id"],
            group_id=record["group_id"],
            max_turns=record["max_turns"],
            max_response_tokens=record["max_response_tokens"],
            max_episode_tokens=record["max_episode_tokens"],
        )
        episode.turns = [Turn(**turn) for turn in record["turns"]]
        episode.observation = record["observation"]
        episode.info = record["info"]
        episode.error = record["error"]
        episode.finish_reason = record["finish_reason"]
        episode.response_tokens = sum(len(turn.response_ids or ()) for turn in episode.turns)
        episode._begun = True
        return episode

    def __repr__(self) -> str:
        state = self.finish_reason or "running"
        return f"<Episode {self.episode_id} {state} turns={len(self.turns)} reward={self.total_reward:g}>"


def _checked(response: Response) -> Response:
    """The response with lists for ids and log-probabilities, one of these for each sampled id."""
    ids, logprobs = _listed(response.response_ids), _listed(response.logprobs)
    if logprobs is not None and len(logprobs) != len(ids or ()):
        raise ValueError(
            f"a response has {len(logprobs)} logprobs for {len(ids or ())} response_ids: give one for each"
        )
    return replace(response, prompt_ids=_listed(response.prompt_ids), response_ids=ids, logprobs=logprobs)


def _listed(values: Any) -> list[Any] | None:
    """As a list of Python numbers, which compare, merge and travel as JSON; a tuple never equals a list."""
    if values is None or isinstance(values, list):
        return values
    return values.tolist() if hasattr(values, "tolist") else list(values)

"""Steps that wait, as servers and sandboxes do: batched steps wait for the slowest, send and recv do not."""

import time

import gem


class Waiting(gem.Env):
    """Every step takes a while, now and then a long one."""

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return "go", {}

    def step(self, action):
        time.sleep(0.002 if self.rng.random() < 0.95 else 0.1)
        return "went", 0.0, False, False, {}


def main() -> None:
    num_envs, seconds = 64, 1.0
    with gem.make_vec([Waiting] * num_envs, backend="thread", seed=0) as vec:
        vec.reset()
        begin, batched = time.monotonic(), 0
        while time.monotonic() - begin < seconds:
            vec.step(["x"] * num_envs)
            batched += num_envs

        vec.send(["x"] * num_envs, list(range(num_envs)))
        begin, streamed = time.monotonic(), 0
        while time.monotonic() - begin < seconds:
            ready = vec.recv(min_ready=1)
            streamed += len(ready.indices)
            vec.send(["x"] * len(ready.indices), ready.indices)
        vec.recv(min_ready=num_envs)
    print(f"batched {batched / seconds:,.0f} steps a second, streamed {streamed / seconds:,.0f}")


if __name__ == "__main__":
    main()

"""One environment, one episode, the interface in full: play GuessTheNumber by bisection."""

import gem


def main() -> None:
    env = gem.make("game:GuessTheNumber-v0-hard")
    observation, info = env.reset(seed=7)
    print(observation, info["suffix"], sep="\n")
    low, high = env.min_number, env.max_number
    terminated = truncated = False
    while not (terminated or truncated):
        guess = (low + high) // 2
        observation, reward, terminated, truncated, info = env.step(f"Half of what is left: \\boxed{{{guess}}}")
        print(f"{guess}: {observation}")
        if "higher" in observation:
            low = guess + 1
        elif "lower" in observation:
            high = guess - 1
    print(f"reward {reward}, success {info['success']}")
    assert info["success"]


if __name__ == "__main__":
    main()

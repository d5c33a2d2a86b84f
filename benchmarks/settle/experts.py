"""How the tasks of the benchmark are played well, as whoever wrote the task would play them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.faults.tiny_worlds import COLUMNS, ROWS


def cart_pole(obs: Any) -> int:
    """Push under the pole: to the side to which it falls."""
    return int(3 * obs[2] + obs[3] > 0)


def acrobot(obs: Any) -> int:
    """Pump: push the second joint the way the first one swings."""
    return 2 if obs[4] > 0 else 0


def pendulum(obs: Any) -> Any:
    """Near the top hold it there, elsewhere pump energy in (Astrom and Furuta 2000, Automatica 36(2))."""
    cosine, sine, speed = (float(v) for v in obs)
    if cosine > 0.9:
        return np.array([np.clip(-10 * sine - 2 * speed, -2, 2)], np.float32)
    lacking = 10.0 - (0.5 * speed**2 + 10 * cosine)
    return np.array([np.clip(lacking * np.sign(speed or 1.0), -2, 2)], np.float32)


def catch(obs: Any) -> int:
    """Go below the ball."""
    board = np.asarray(obs).reshape(ROWS, COLUMNS)
    paddle, ball = int(board[-1].argmax()), int(board[:-1].max(0).argmax())
    return 1 + int(np.sign(ball - paddle))


def reach(obs: Any) -> Any:
    """Push towards the goal, and against the speed."""
    return np.clip(4 * np.asarray(obs[:2]) - 12 * np.asarray(obs[2:4]), -1, 1).astype(np.float32)


def reach_scaled(obs: Any) -> Any:
    """The same in the units of that world."""
    return reach((np.asarray(obs, float) - 5) / np.array([100, 0.01, 100, 0.1, 10, 1]))


def inverted_pendulum(obs: Any) -> Any:
    """Hold the pole over the cart and the cart in the middle: feedback of position, angle and both speeds."""
    return np.clip(np.array([np.dot((1.0, 10.0, 1.0, 2.0), obs)]), -3, 3).astype(np.float32)


def lunar_lander(obs: Any) -> int:
    """Lean towards the pad and brake near the ground, as the heuristic that comes with Gymnasium's LunarLander does."""
    x, y, x_speed, y_speed, angle, turning, left, right = (float(v) for v in obs)
    lean = (np.clip(0.5 * x + x_speed, -0.4, 0.4) - angle) * 0.5 - turning
    lift = (0.55 * abs(x) - y) * 0.5 - 0.5 * y_speed
    if left or right:  # a leg is down: nothing but a soft stop is left to do
        lean, lift = 0.0, -0.5 * y_speed
    if lift > abs(lean) and lift > 0.05:
        return 2
    return 3 if lean < -0.05 else 1 if lean > 0.05 else 0


def corridor(obs: Any) -> int:
    """Walk on."""
    del obs
    return 1


EXPERTS = {
    "CartPole-v1": "cart_pole", "Acrobot-v1": "acrobot", "Pendulum-v1": "pendulum", "Catch": "catch", "Reach": "reach",
    "ReachScaled": "reach_scaled", "Corridor": "corridor", "InvertedPendulum-v5": "inverted_pendulum",
    "LunarLander-v3": "lunar_lander",
}  # fmt: skip
"""World -> the name of its expert here."""

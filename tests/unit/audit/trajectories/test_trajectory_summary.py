"""Figures of sets of episodes against slow twins, and the strip of frames against another reader of PNG."""

from __future__ import annotations

import io
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.trajectories.coverage import Grid, effective_number, entropy_nats
from firstbreak.audit.trajectories.gathering import summarise
from firstbreak.audit.trajectories.ranges import Ranges
from firstbreak.audit.trajectories.states import States
from firstbreak.audit.trajectories.strip import frame_strip, png
from firstbreak.audit.trajectories.trajectory import Trajectory

RNG = np.random.default_rng


def episode(
    seed: int, *, steps: int = 20, reward: float = 1.0, action: float | None = None, frozen: bool = False
) -> Trajectory:
    random = RNG(seed)
    actions = random.uniform(-1, 1, (steps, 2))
    actions[:, 1] = 0.25
    if action is not None:
        actions[:, 0] = action
    states = random.normal(size=(steps, 3)) * (0 if frozen else 1)
    return Trajectory("x", seed, states, actions, np.full(steps, reward), terminated=True, truncated=False)


@pytest.mark.parametrize("left", [0, 1])
def test_episodes_of_which_nothing_or_one_observation_is_finite_cover_nothing(left: int) -> None:
    one = episode(0)
    states = np.full_like(one.observations, np.nan)
    states[:left] = 1.0
    found = summarise([Trajectory("x", 0, states, one.actions, one.rewards, terminated=True, truncated=False)])
    assert found.n == 1
    assert math.isnan(found.effective_cells)


def test_the_figures_of_a_set_of_episodes() -> None:
    found = summarise([episode(i, reward=i) for i in range(8)] + [episode(3, reward=3), episode(90, action=1.0)])
    assert found.n == 10
    assert found.high[0].paid == 140
    assert [t.paid for t in found.low] == [0, 20, 20]
    assert len(found.drawn) == 3
    assert (found.repeated, found.most_repeats, found.one_action) == (1, 2, 1)
    assert found.dead_actions == (1,)
    assert found.dead_observations == ()
    assert (found.terminated, found.truncated, found.not_finite) == (10, 0, 0)
    assert found.lengths_steps.tolist() == [20] * 10
    assert 1 < found.effective_cells <= found.cells == 144


def test_a_policy_that_stays_covers_less_than_one_that_moves() -> None:
    moving = [episode(i, reward=0) for i in range(10)]
    staying = [episode(i + 100, reward=1, frozen=True) for i in range(10)]
    found = summarise([*moving, *staying])
    assert found.effective_cells_high == 1
    assert found.effective_cells_low > 20
    assert summarise(moving).dead_observations == ()
    assert summarise(staying).dead_observations == (0, 1, 2)


def test_no_episode_and_episodes_without_states() -> None:
    assert summarise([]).n == 0
    bare = Trajectory("x", 0, np.zeros((3, 0)), np.array([1, 1, 1]), np.array([1.0, math.nan, 0.0]))
    found = summarise([bare])
    assert found.not_finite == 1
    assert math.isnan(found.returns[0])
    assert found.one_action == 1
    assert math.isnan(found.effective_cells)
    assert math.isnan(found.at_bound_frac)
    assert found.high == ()


def test_arrays_of_another_width_are_said_to_be_left_out() -> None:
    odd = Trajectory("x", 1, np.zeros((3, 5)), np.zeros((3, 4)), np.zeros(3))
    assert "2 arrays" in summarise([episode(0), odd]).notes[0]


def slow_entropy(states: np.ndarray, neighbour: int) -> float:
    points = sorted({tuple(row) for row in states.tolist()})
    alive = [j for j in range(states.shape[1]) if len({p[j] for p in points}) > 1]
    size, features = len(points), len(alive)
    logs = 0.0
    for p in points:
        distances = sorted(math.dist([p[j] for j in alive], [q[j] for j in alive]) for q in points)
        logs += math.log(distances[neighbour])
    ball = math.pi ** (features / 2) / math.gamma(features / 2 + 1)

    def digamma(n: int) -> float:
        return -0.5772156649015329 + sum(1 / j for j in range(1, n))

    return digamma(size) - digamma(neighbour) + math.log(ball) + features * logs / size


@pytest.mark.parametrize(("size", "features"), [(6, 1), (40, 2), (600, 3)])
def test_the_entropy_equals_its_slow_twin(size: int, features: int) -> None:
    states = RNG(size).normal(size=(size, features))
    states[1] = states[0]
    assert entropy_nats(states) == pytest.approx(slow_entropy(states, 3), rel=1e-6)


def test_the_entropy_is_about_that_of_a_normal_distribution() -> None:
    states = RNG(5).normal(size=(3000, 2))
    assert entropy_nats(states) == pytest.approx(math.log(2 * math.pi * math.e), abs=0.1)
    assert entropy_nats(3 * states) == pytest.approx(entropy_nats(states) + 2 * math.log(3), abs=1e-6)
    assert math.isnan(entropy_nats(np.zeros((50, 2))))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=10))
def test_the_effective_number_lies_between_one_and_all(visits: list[int]) -> None:
    counts = dict(enumerate(visits))
    found = effective_number(counts)
    assert 1 - 1e-9 <= found <= len(visits) + 1e-9
    assert effective_number(dict.fromkeys(counts, 7)) == pytest.approx(len(visits))


@given(st.integers(0, 1000))
def test_a_grid_counts_every_state_once_wherever_the_axes_point(seed: int) -> None:
    states = RNG(seed).normal(size=(50, 3)) * [1, 100, 0]
    grid = Grid(states)
    counts = grid.counts(states)
    assert sum(counts.values()) == 50
    assert all(0 <= cell < grid.cells for cell in counts)
    moved = Grid(states * 7 + 3).counts(states * 7 + 3)
    assert Counter(moved.values()).total() == len(counts) or abs(len(moved) - len(counts)) <= 3


@given(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=6), min_size=1, max_size=5))
def test_bounds_that_come_in_pieces_equal_those_of_the_whole(pieces: list[list[int]]) -> None:
    ranges = Ranges(1)
    for piece in pieces:
        ranges.add(np.array(piece, float)[:, None])
    whole = [value for piece in pieces for value in piece]
    assert (ranges.low[0], ranges.high[0]) == (min(whole), max(whole))
    assert (ranges.at_low[0], ranges.at_high[0]) == (whole.count(min(whole)), whole.count(max(whole)))
    assert ranges.dead == ((0,) if len(whole) > 1 and min(whole) == max(whole) else ())


def test_the_draw_of_states_is_bounded_and_even() -> None:
    hits = np.zeros(40)
    for seed in range(60):
        states = States(most=50, seed=seed)
        for i in range(40):
            assert states.add(np.full((25, 1), float(i)), i)
        drawn, episodes = states.drawn()
        assert len(drawn) == 50
        assert (drawn[:, 0] == episodes).all()
        hits += np.bincount(episodes, minlength=40)
    assert not states.add(np.zeros((2, 9)), 99)
    assert abs(hits[:20].sum() - hits[20:].sum()) < 6 * math.sqrt(60 * 50)


def test_a_strip_is_a_png_that_another_reader_reads() -> None:
    from PIL import Image

    frames = RNG(0).integers(0, 256, (20, 32, 24, 3)).astype(np.uint8)
    with Image.open(io.BytesIO(frame_strip(frames, shown=4, height=16))) as image:
        pixels = np.asarray(image)
    assert pixels.shape == (16, 4 * 12, 3)
    assert (pixels[:, :12] == frames[0, ::2, ::2]).all()
    assert (pixels[:, -12:] == frames[-1, ::2, ::2]).all()
    with Image.open(io.BytesIO(png(frames[0]))) as image:
        assert (np.asarray(image) == frames[0]).all()

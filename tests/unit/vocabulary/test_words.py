"""Units, averaging windows and joined words of hand-written loops' keys."""

from __future__ import annotations

import tracemalloc
from itertools import product

import pytest

from firstbreak.vocabulary import map_keys
from firstbreak.vocabulary._alias import words_of
from firstbreak.vocabulary._words import UNITS, WORDS_KEPT, parts, scale, split, without_window

EPISODES = ("episode_length",)


def meant(key: str, *beside: str) -> tuple[str, str]:
    found = map_keys([key, *beside], "", "").get(key)
    return (found.metric, found.transform) if found is not None else ("", "")


@pytest.mark.parametrize(
    ("key", "metric", "transform"),
    [
        ("mem_mb", "system/cpu_mem_gb", "scale:0.001"),
        ("Memory (MB)", "system/cpu_mem_gb", "scale:0.001"),
        ("rss_gb", "system/cpu_mem_gb", ""),
        ("ram_bytes", "system/cpu_mem_gb", "scale:1e-09"),
        ("gpu_mem_mib", "system/gpu_mem_gb", "scale:0.001"),
        ("cuda_mem_allocated_gb", "system/gpu_mem_gb", ""),
        ("gpu_util_pct", "perf/gpu_util", ""),
        ("clip_frac_pct", "policy/clip_fraction", "scale:0.01"),
        ("success rate [%]", "episode/success_rate", "scale:0.01"),
        ("sec_per_iter", "time/step", ""),
        ("step_ms", "time/step", "scale:0.001"),
        ("iters_per_sec", "time/update_hz", ""),
        ("steps_per_s", "time/fps", ""),
        ("wall_hours", "time/elapsed_s", "scale:3600"),
    ],
)
def test_units_are_brought_to_the_metrics_own(key: str, metric: str, transform: str) -> None:
    assert meant(key) == (metric, transform)


@pytest.mark.parametrize(
    ("key", "metric"),
    [
        ("ep_len_mean_100", "episode/length_mean"),
        ("avg_return_100", "reward/episode_return_mean"),
        ("reward_avg100", "reward/episode_return_mean"),
        ("last_100_episodes_reward", "reward/episode_return_mean"),
        ("ema_return", "reward/episode_return_mean"),
        ("moving_avg_reward", "reward/episode_return_mean"),
        ("avgreward", "reward/episode_return_mean"),
        ("epreward", "reward/episode_return_mean"),
        ("qloss", "critic/loss"),
        ("criticloss", "critic/loss"),
        ("AverageVVals", "critic/value_mean"),
        ("AverageQ1Vals", "critic/q_mean"),
        ("piloss", "policy/loss"),
        ("actorlr", "optim/lr"),
        ("MaxEpRet", "reward/episode_return_max"),
    ],
)
def test_windows_and_joined_words(key: str, metric: str) -> None:
    assert meant(key) == (metric, "")


@pytest.mark.parametrize(
    "key",
    [
        "mem", "rss", "cpu_pct", "step", "wall", "reward_100", "reward_mb", "q_ms", "entropyloss", "last_reward",
        "score100", "ratio_7", "seconds", "buffer_mb", "StdEpRet",
    ],
)  # fmt: skip
def test_what_does_not_settle_the_meaning_is_left_alone(key: str) -> None:
    assert meant(key) == ("", "")


def test_a_plain_key_is_preferred_to_one_that_a_window_was_taken_over() -> None:
    assert list(map_keys(["reward_mean_100", "reward"], "", "")) == ["reward"]
    assert list(map_keys(["mean_reward_100"], "", "")) == ["mean_reward_100"]


def test_kl_is_that_of_the_update_where_episodes_are_logged() -> None:
    assert meant("KL", *EPISODES) == ("policy/kl_old", "")
    assert meant("kl_divergence", "ep_reward") == ("policy/kl_old", "")
    assert meant("kl") == meant("kl", "reward") == meant("kl", "completion_length", "reward") == ("", "")


@pytest.mark.parametrize(
    ("key", "metric"),
    [
        ("loss/clipfrac", "policy/clip_fraction"),
        ("loss/approxkl", "policy/kl_old"),
        ("misc/explained_variance", "critic/explained_variance"),
        ("agent/epsilon", "dqn/epsilon"),
        ("loss/entropy", ""),
        ("loss/policy_entropy", ""),
        ("best/reward", ""),
    ],
)
def test_a_scope_of_ones_own_is_left_out_where_the_rest_is_plain(key: str, metric: str) -> None:
    assert meant(key) == (metric, "")


def test_the_one_loss_of_a_learner_of_values_is_its_critics() -> None:
    assert map_keys(["loss"], "", "DQN")["loss"].metric == "critic/loss"
    assert map_keys(["loss", "td_loss"], "", "DQN")["loss"].metric == "optim/loss_total"
    assert (
        map_keys(["loss"], "", "SAC")["loss"].metric == map_keys(["loss"], "", "")["loss"].metric == "optim/loss_total"
    )


def test_a_word_is_cut_where_one_cut_only_fits() -> None:
    known = frozenset({"actor", "loss", "reward", "re", "ward", "action", "actions", "sum"})
    assert parts("actorloss", known) == ("actor", "loss")
    assert parts("reward", known) == ("reward",)
    assert parts("qloss", known) == ("q", "loss")
    assert parts("qsum", known) == ("qsum",)
    assert parts("actionsum", known) == ("action", "sum")
    assert parts("actionssum", known) == ("actions", "sum")
    assert parts("nothing", known) == ("nothing",)
    assert parts("mean100", known) == ("mean", "100")
    assert parts("loss100", known) == ("loss100",)


def test_every_cut_is_found() -> None:
    words = ("ab", "abc", "cd", "d", "bcd")
    for count in (2, 3):
        for some in product([w for w in words if len(w) > 1], repeat=count):
            ways = [cut for n in (2, 3) for cut in product(words, repeat=n) if "".join(cut) == "".join(some)]
            ways = [cut for cut in ways if all(len(w) > 1 for w in cut)]
            first = min(map(len, ways))
            short = [cut for cut in ways if len(cut) == first]
            if len(short) == 1:
                assert parts("".join(some), frozenset(words)) == short[0]


def test_windows_leave_other_numbers_alone() -> None:
    assert without_window(("reward", "mean", "100")) == (("reward", "mean"), True)
    assert without_window(("reward", "100")) == (("reward", "100"), False)
    assert without_window(("last", "reward")) == (("last", "reward"), False)
    assert without_window(("mean", "q", "1")) == (("mean", "q", "1"), False)


def test_units_fit_their_dimension_alone() -> None:
    assert scale("mb", "GB") == "scale:0.001"
    assert scale("gb", "GB") == ""
    assert scale("ms", "GB") is None
    assert scale("pct", "frac") == "scale:0.01"
    assert scale("pct", "percent") == ""
    assert scale("pct", "nats") is None
    assert all(scale(word, "reward") is None for word in UNITS)


def test_the_letter_s_is_a_second_behind_per() -> None:
    assert split("steps_per_s", ()) == ["steps", "per", "second"]
    assert split("reward_s", ()) == ["reward", "s"]


def test_a_word_that_is_new_takes_little_memory() -> None:
    """What is remembered of a word once held a copy of all known words: a row of 262,000 keys took 4.5 GB."""
    words_of("any/key")
    tracemalloc.start()
    for number in range(2000):
        assert words_of(f"seldom/{number}x")[0] == "seldom"
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 2_000_000
    assert words_of.cache_info().maxsize == parts.cache_info().maxsize == WORDS_KEPT

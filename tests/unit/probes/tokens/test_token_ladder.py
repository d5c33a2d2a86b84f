"""The ladder for language models without training: tasks, readings, verdicts, and what trainers must look like."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from firstbreak.check import Symptom, checks_of
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.finding import Skip
from firstbreak.probes.tokens.api import probe_tokens
from firstbreak.probes.tokens.model import BadPolicy, Policy, Uniform
from firstbreak.probes.tokens.outcome import TokenOutcome, from_plain, to_plain
from firstbreak.probes.tokens.reaching import reach
from firstbreak.probes.tokens.rung import LEARNT_NATS, NOISE_NATS, log_odds_gain
from firstbreak.probes.tokens.rungs import token_rungs
from firstbreak.probes.tokens.task import END, LETTERS, PAD, PROMPTS, VOCABULARY, TokenTask
from firstbreak.probes.tokens.trial import TokenTrial, judge

torch.set_num_threads(1)


class Table:
    """A policy that looks up its next token's probabilities by prompt and place."""

    def __init__(self, by_place: Any) -> None:
        self.by_place = by_place

    def logits(self, input_ids: Any, attention_mask: Any) -> Any:
        del attention_mask
        rows: list[Any] = []
        for row in input_ids.tolist():
            prompt = next(p for p in sorted(PROMPTS, key=len, reverse=True) if tuple(row[: len(p)]) == p)
            rows.append(self.by_place(prompt, len(row) - len(prompt)).log().expand(input_ids.shape[1], -1))
        return torch.stack(rows)


def sure_of(token: int, p: float = 0.97) -> Any:
    spread = torch.full((VOCABULARY,), (1 - p) / (VOCABULARY - 1))
    spread[token] = p
    return spread


def trained(policy: Any) -> Any:
    """A trainer that returns this policy; it scores a batch, as training would."""

    def train(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0) -> Any:
        del steps, seed
        task.rewards(task.prompts, [[LETTERS[0], END]] * len(task.prompts))
        return policy(task, beta)

    return train


OWN = {prompt: 8 + i for i, prompt in enumerate(PROMPTS)}


def ideal(task: TokenTask, beta: float) -> Any:
    """The right answer to every rung."""
    uniform = torch.full((VOCABULARY,), 1 / VOCABULARY)
    answers = {
        "one-token": lambda prompt, place: sure_of(7),
        "token-by-prompt": lambda prompt, place: sure_of(OWN[prompt]),
        "early-token": lambda prompt, place: sure_of(7) if place == 0 else uniform,
        "second-token": lambda prompt, place: sure_of(9) if place == 1 else sure_of(5),
        "end-token": lambda prompt, place: sure_of(END),
        "kl-pull": lambda prompt, place: sure_of(7, 0.2 if beta else 0.97),
    }
    return Table(answers.get(task.name, lambda prompt, place: uniform))


def climbed(policy: Any) -> Any:
    return probe_tokens(trained(policy), isolate=False, everything=True)


def test_right_answers_pass_every_rung() -> None:
    seen = climbed(ideal)
    assert seen.verdict is Verdict.HEALTHY, [f.message for f in seen.findings]
    assert len(seen.clear) == len(checks_of("token-probes"))


def wrong(rung: str, by_place: Any) -> Any:
    def policy(task: TokenTask, beta: float) -> Any:
        return Table(by_place) if task.name == rung else ideal(task, beta)

    return policy


WRONG = [
    ("constant-reward", lambda p, i: sure_of(END), "constant-reward-moves-policy", "end at once"),
    ("one-token", lambda p, i: sure_of(7, 1e-4), "rewarded-token-not-learned", "a sign is lost"),
    ("one-token", lambda p, i: sure_of(3, 1 / VOCABULARY), "rewarded-token-not-learned", "not learnt"),
    ("token-by-prompt", lambda p, i: _among(OWN.values()), "token-by-prompt-not-learned", "learnt alike"),
    ("early-token", lambda p, i: sure_of(7) if i else sure_of(3, 0.1), "early-token-gets-no-credit", "one place late"),
    ("second-token", lambda p, i: sure_of(3, 0.1) if i else sure_of(9), "second-token-not-learned", "one place early"),
    ("end-token", lambda p, i: sure_of(3, 0.1), "end-token-not-learned", "stopping pays"),
    ("length-neutral", lambda p, i: sure_of(END), "length-drifts-without-reward", "shrink"),
    ("kl-pull", lambda p, i: sure_of(7), "kl-does-not-pull-back", "holds nothing back"),
]


def _among(tokens: Any) -> Any:
    spread = torch.full((VOCABULARY,), 0.001)
    for token in tokens:
        spread[token] = (1 - 0.001 * (VOCABULARY - 4)) / 4
    return spread


@pytest.mark.parametrize(("rung", "by_place", "name", "says"), WRONG, ids=[f"{r}-{s}" for r, _, _, s in WRONG])
def test_a_wrong_answer_fires_its_check_alone_and_names_the_mistake(
    rung: str, by_place: Any, name: str, says: str
) -> None:
    seen = climbed(wrong(rung, by_place))
    assert [f.name for f in seen.findings] == [name]
    assert says in seen.findings[0].message
    assert seen.verdict is Verdict.BROKEN


def test_a_trainer_that_draws_one_prompt_again_and_again_is_told_so() -> None:
    """The tokens look learnt alike, but no row was mixed up: three prompts were never drawn."""

    def train(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0) -> Any:
        del steps, seed
        task.rewards([task.prompts[0]], [[LETTERS[0], END]])
        return (wrong("token-by-prompt", lambda p, i: sure_of(OWN[PROMPTS[0]])))(task, beta)

    seen = probe_tokens(train, isolate=False, everything=True)
    assert [f.name for f in seen.findings] == ["token-by-prompt-not-learned"]
    assert "rewards were asked for 1 of 4 prompts" in seen.findings[0].message
    assert seen.findings[0].evidence["prompts_unscored"] == 3


NEAR = [
    ("constant-reward", lambda p, i: sure_of(3, 0.4)),
    ("one-token", lambda p, i: sure_of(7, 0.4)),
    ("length-neutral", lambda p, i: sure_of(END, 0.1)),
    ("kl-pull", lambda p, i: sure_of(7, 0.6)),
]


@pytest.mark.parametrize(("rung", "by_place"), NEAR, ids=[r for r, _ in NEAR])
def test_a_near_miss_passes(rung: str, by_place: Any) -> None:
    assert climbed(wrong(rung, by_place)).verdict is Verdict.HEALTHY


def test_above_a_failed_rung_only_what_does_not_need_it_is_asked() -> None:
    seen = probe_tokens(trained(wrong("one-token", lambda p, i: sure_of(3, 0.1))), isolate=False)
    asked = {row[0] for row in seen.details["tables"][0]["rows"] if row[1] != "not_asked"}
    assert asked == {"constant-reward", "one-token"}


def test_a_trainer_without_beta_is_not_asked_for_the_kl() -> None:
    def train(task: TokenTask, *, steps: int, seed: int) -> Any:
        return trained(ideal)(task, steps=steps, seed=seed)

    seen = probe_tokens(train, isolate=False)
    assert seen.verdict is Verdict.HEALTHY
    assert [s.unlock_with for s in seen.skipped] == [("train(task, *, steps, seed, beta)",)]


def test_a_trainer_that_raises_or_returns_nonsense_is_an_answer() -> None:
    def raises(task: TokenTask, *, steps: int, seed: int) -> Any:
        del steps, seed
        task.rewards([task.prompts[0]], [[LETTERS[0]]])
        raise RuntimeError("boom")

    seen = probe_tokens(raises, isolate=False)
    assert [f.name for f in seen.findings] == ["token-trainer-fails"]
    assert "boom" in seen.findings[0].message

    def nonsense(task: TokenTask, *, steps: int, seed: int) -> Any:
        del task, steps, seed
        return 3

    assert [f.name for f in probe_tokens(nonsense, isolate=False).findings] == ["token-trainer-fails"]

    nan = probe_tokens(
        trained(lambda task, beta: Table(lambda p, i: torch.full((VOCABULARY,), torch.nan))), isolate=False
    )
    assert "not finite" in nan.findings[0].message


def test_forms_that_cannot_be_called_are_refused() -> None:
    with pytest.raises(InputError, match="no keyword 'steps'"):
        reach(lambda task, *, seed: None)
    with pytest.raises(InputError, match="needs rate"):
        reach(lambda task, *, steps, seed, rate: None)
    with pytest.raises(UnknownNameError):
        reach("trl:GRPOO")
    with pytest.raises(InputError, match="no address"):
        probe_tokens(trained(ideal))


# ---- readings against slow twins -------------------------------------------------------------------------------------


def test_the_second_token_is_read_exactly() -> None:
    """Against ten thousand draws."""
    draw = random.Random(0)
    policy = Policy(ideal(SimpleNamespace(name="second-token"), 0.0), END, VOCABULARY)  # type: ignore[arg-type]
    first, after = policy.second(PROMPTS[0])
    exact = float((first @ after)[9])
    hits = 0
    for _ in range(10_000):
        one = draw.choices(range(VOCABULARY), first.tolist())[0]
        hits += draw.choices(range(VOCABULARY), after[one].tolist())[0] == 9
    assert hits / 10_000 == pytest.approx(exact, abs=0.02)


def test_the_mean_length_is_that_of_a_geometric_distribution() -> None:
    found = Policy(Uniform(VOCABULARY), END, VOCABULARY).mean_length(PROMPTS, 24, draws=256)
    q = 1 - 1 / VOCABULARY
    assert found == pytest.approx((1 - q**24) * VOCABULARY, rel=0.06)


def test_a_model_of_another_shape_is_no_policy() -> None:
    with pytest.raises(BadPolicy, match="shape"):
        Policy(Uniform(3), END, VOCABULARY).first(PROMPTS[0])
    with pytest.raises(BadPolicy, match="no model"):
        Policy(3, END, VOCABULARY)


def test_rewards_see_completions_without_padding_and_up_to_the_end() -> None:
    seen: list[tuple[int, ...]] = []
    task = TokenTask("x", lambda prompt, completion: float(seen.append(completion) or 0), longest=5)
    task.rewards([PROMPTS[0]], [[5, END, PAD, 7]])
    task.rewards([[PAD, PAD, *PROMPTS[0]]], [torch.tensor([5, 6, PAD])])  # type: ignore[list-item]
    assert seen == [(5, END), (5, 6)]
    assert task.scored == 2
    assert task.scored_prompts == {PROMPTS[0]}
    with pytest.raises(ValueError, match=r"none of task\.prompts"):
        token_rungs()["token-by-prompt"].task().rewards([PROMPTS[0][1:]], [[5]])


def test_the_tiny_model_is_the_same_for_the_same_seed_and_near_uniform() -> None:
    task = TokenTask("x", lambda prompt, completion: 0.0, longest=1, seed=4)
    one, other = (Policy(task.model(), END, VOCABULARY).first(PROMPTS[1]) for _ in range(2))
    assert torch.equal(one, other)
    assert float(one.max()) < 0.15
    assert task.made == [4, 4]


def test_outcomes_survive_the_wire_and_budgets_are_ordered() -> None:
    one = TokenOutcome("one-token", 3, 40, numbers={"p": 0.5})
    assert from_plain(to_plain(one)) == one
    assert 0 < NOISE_NATS < LEARNT_NATS
    assert log_odds_gain(0.5, 0.5) == 0
    assert log_odds_gain(1.0, 0.5) > 10


def test_a_rung_that_was_not_reached_withholds_its_consent() -> None:
    found = judge(TokenTrial([]), token_rungs()["one-token"])
    assert isinstance(found, Skip)
    assert found.withholds
    died = TokenTrial([TokenOutcome("one-token", 0, 40, "died", "killed")])
    assert isinstance(judge(died, token_rungs()["one-token"]), Skip)
    failing = next(c for c in checks_of("token-probes") if c.name == "token-trainer-fails")
    assert isinstance(failing.look(died), Symptom)

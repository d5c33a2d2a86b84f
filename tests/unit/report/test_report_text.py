from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.diagnosis import Diagnosis, Skipped, Verdict
from firstbreak.finding import Link, Onset, Severity
from firstbreak.limits import ASKED, UNSEEN
from firstbreak.report import html, markdown
from firstbreak.report.clean import plain, to_ascii
from firstbreak.report.page import Face
from firstbreak.report.spark import spark
from firstbreak.report.text import render
from firstbreak.report.text_full import nested
from firstbreak.report.words import MORE_POINTS, duration, number, onset_phrase, short_path
from firstbreak.series import Curve, Series

CURVE = Curve(np.arange(2.0), np.arange(2.0))
GOLDEN = Path(__file__).parents[2] / "golden" / "text"


def no_controls(text: str) -> bool:
    return all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for c in text)


def test_how_many_rules_lack_points_stands_before_what_may_be_cut(undecided: Diagnosis) -> None:
    coverage = replace(undecided.coverage, unlock=((MORE_POINTS, 15), *undecided.coverage.unlock))
    (seen,) = [line for line in render([replace(undecided, coverage=coverage)]).splitlines() if line.startswith("seen")]
    assert "looked, 15 lack points" in seen


@pytest.mark.parametrize("kind", ["broken", "healthy", "undecided"])
@pytest.mark.parametrize("full", [False, True])
def test_text_is_as_agreed(kind: str, full: bool, request: pytest.FixtureRequest) -> None:
    """To accept a change, delete the file in tests/golden/text, run once more and read the difference."""
    text = render([request.getfixturevalue(kind)], full=full)
    golden = GOLDEN / f"{kind}{'_full' if full else ''}.txt"
    if not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, "utf-8")
        pytest.fail(f"{golden} was missing and is written now: read it, then run again")
    assert text == golden.read_text("utf-8")


@pytest.mark.parametrize("kind", ["broken", "healthy", "undecided", "hostile"])
def test_first_screen_fits_twenty_lines_of_eighty_columns(kind: str, request: pytest.FixtureRequest) -> None:
    lines = render([request.getfixturevalue(kind)]).splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("kind", ["broken", "healthy", "undecided", "hostile"])
def test_recorded_experiments_do_not_push_the_answer_off_the_first_screen(
    kind: str, request: pytest.FixtureRequest
) -> None:
    made = tuple(
        f"experiment-{i} confirmed: {', '.join(f'cause-{j} +3.47 points' for j in range(6))}" for i in range(9)
    )
    one = replace(request.getfixturevalue(kind), tried=made)
    text = render([one])
    assert len(text.splitlines()) <= 20
    assert "firstbreak settle RUN tells" in text
    assert "advice" in text
    assert "experiment-8" in render([replace(one, tried=made[-1:])])


def test_verdict_comes_first_and_names_the_link(broken: Diagnosis, healthy: Diagnosis, undecided: Diagnosis) -> None:
    assert render([broken]).startswith("BROKEN at policy_update")
    assert render([healthy]).startswith("HEALTHY in reward_signal, critic, policy_update")
    assert "in what was seen of environment_data" in render([healthy])
    assert "nothing is claimed about data_freshness" in render([healthy])
    assert render([undecided]).startswith("UNDECIDED: 1 warning")
    assert "decide  baseline score" in render([undecided])


def test_a_key_that_may_be_the_missing_return_is_asked_for(undecided: Diagnosis) -> None:
    """A log whose return has a name of its own is no more than one --map away from an answer."""
    log = replace(undecided.log, unmapped={"score": CURVE, "episode": CURVE})
    quiet = replace(undecided, log=log, findings=())
    missing = replace(quiet.coverage, profile_missing=("reward/episode_return_mean or reward/episode_return",))
    text = " ".join(render([replace(quiet, coverage=missing)]).split())
    assert "a verdict of healthy wants reward/episode_return_mean run" in text
    assert "unread --map score=reward/episode_return_mean if it is that; not understood: score advice" in text
    assert "Unknown keys (1)" in render([quiet], full=True)  # the step column is none
    for face in (markdown.render, html.page):
        assert "Unread:" in face([replace(quiet, coverage=missing)])
        assert "Unread:" not in face([undecided])
    assert "unread" not in render([replace(undecided, log=log, coverage=missing)])  # a warning says more
    seen = replace(quiet.coverage, profile_missing=("critic/loss or critic/q_mean",))
    assert "unread" not in render([replace(quiet, coverage=seen)])


def test_a_key_is_offered_for_the_metric_that_it_resembles_alone(undecided: Diagnosis) -> None:
    """The spread of actions is of the policy, as the KL is, and no KL: mapped to it, it would be a false alarm."""
    guesses = {"Mean action std": "policy/action_std"}
    log = replace(undecided.log, unmapped={"Mean action std": CURVE}, guesses=guesses)
    quiet = replace(undecided, log=log, findings=())
    for wanted, offered in (("policy/kl_old", False), ("policy/action_std", True)):
        seen = replace(quiet, coverage=replace(quiet.coverage, profile_missing=(wanted,)))
        assert (f"--map 'Mean action std={wanted}'" in render([seen])) is offered


def test_a_log_of_mostly_unknown_keys_says_so_unless_its_framework_is_known(undecided: Diagnosis) -> None:
    keys = {f"m{i}": CURVE for i in range(len(undecided.log.metrics) + 1)}
    coverage = replace(undecided.coverage, profile_missing=())
    for framework, told in (("", True), ("rllib", False)):
        log = replace(undecided.log, unmapped=keys, framework=framework)
        text = render([replace(undecided, log=log, findings=(), coverage=coverage)])
        assert (f"unread  {len(keys)} of {2 * len(keys) - 1} keys: m0, m1" in text) is told


def test_an_undecided_run_shows_the_finding_that_its_cause_explains(broken: Diagnosis) -> None:
    first, *rest = (f for f in broken.findings if f.severity.rank)
    equals = tuple(replace(f, severity=Severity.WARNING) for f in (first, *rest))
    cause = replace(broken.causes[0], explains=(equals[-1].id,))
    one = replace(broken, verdict=Verdict.UNDECIDED, first_break=None, findings=equals, causes=(cause,))
    assert f"warning {equals[-1].name}: " in render([one])
    assert f"warning {first.name}: " in render([replace(one, causes=())])


def test_a_run_of_an_unknown_algorithm_with_episodes_is_not_asked_for_tokens(undecided: Diagnosis) -> None:
    tokens = Skipped("SEQ", "tokens", "not logged: seq/len_mean", ("seq/len_mean",), link=Link.ENVIRONMENT_DATA)
    wanted = replace(undecided.coverage, skipped=(tokens,))
    log = replace(undecided.log, algorithm="", series=(Series("reward/episode_return_mean", CURVE),))
    assert "seq/len_mean" not in render([replace(undecided, log=log, coverage=wanted)])
    assert "seq/len_mean" in render([replace(undecided, log=replace(log, series=()), coverage=wanted)])


def test_onset_is_told_in_steps_and_in_time(broken: Diagnosis) -> None:
    assert "update 412-420 of 1,000, 0:07:31 into the run" in render([broken])


def test_unmet_looks_come_before_a_provisional_remedy(broken: Diagnosis) -> None:
    text = " ".join(render([broken]).split())
    assert "first look at environment_data, reward_signal; then (provisional): Reduce the epochs" in text


def test_rivals_are_named_with_what_separates_them(broken: Diagnosis) -> None:
    assert "or      reward-scale-mismatch; told apart by advantage/abs_max" in render([broken])


def test_unverified_vocabulary_is_marked(broken: Diagnosis) -> None:
    assert "(unverified)" not in render([broken])
    assert "(unverified)" in render([replace(broken, log=replace(broken.log, verified=False))])


def test_nothing_from_a_log_reaches_the_terminal_raw(hostile: Diagnosis) -> None:
    for full in (False, True):
        text = render([hostile, hostile], full=full) + render([hostile], full=full)
        assert no_controls(text)
        assert "\x1b" not in text
    assert "[bold]x[/bold]" in render([hostile], full=True)


def test_colour_only_when_asked(broken: Diagnosis) -> None:
    assert "\x1b[" in render([broken], face=Face(colour=True))
    assert "\x1b[" not in render([broken])


def test_ascii_terminals_get_ascii(broken: Diagnosis, hostile: Diagnosis, healthy: Diagnosis) -> None:
    for diagnosis in (broken, hostile, healthy):
        text = render([diagnosis], full=True, face=Face(ascii_only=True))
        assert text.isascii()
    assert "#" in render([broken], face=Face(ascii_only=True))


def test_many_runs_get_a_line_each_under_their_verdict_broken_first(
    broken: Diagnosis, healthy: Diagnosis, undecided: Diagnosis
) -> None:
    lines = render([healthy, undecided, broken]).splitlines()
    assert lines[0] == "3 runs: 1 broken, 1 undecided, 1 healthy"
    assert [line for line in lines if line in ("broken", "undecided", "healthy")] == ["broken", "undecided", "healthy"]
    assert "?update-too-large" in lines[lines.index("broken") + 1]
    assert max(map(len, lines)) <= 80


def test_runs_of_one_folder_can_be_told_apart_at_eighty_columns(broken: Diagnosis) -> None:
    names = [f"sweep/halfcheetah_ppo_rate_{rate}" for rate in ("0.1", "0.01", "0.001")]
    lines = render([replace(broken, log=replace(broken.log, path=f"/runs/{name}")) for name in names]).splitlines()
    rows = lines[lines.index("broken") + 1 :][:3]
    assert [row.split()[0].rsplit("_", 1)[-1] for row in rows] == ["0.1", "0.01", "0.001"]
    assert max(map(len, lines)) <= 80


def test_a_wide_terminal_cuts_nothing(broken: Diagnosis, undecided: Diagnosis) -> None:
    assert "…" not in render([broken, undecided], face=Face(width=160))


def test_full_shows_what_could_not_look_and_what_was_not_understood(broken: Diagnosis) -> None:
    text = " ".join(render([broken], full=True).split())
    for piece in ("POL010 advantage-outliers", "--map train/my_kl=policy/kl_old", "model.zip: not a log", "lr = 0.1"):
        assert piece in text
    assert "follows: EXP001" in text


def test_consequences_follow_their_cause_even_in_a_ring(broken: Diagnosis) -> None:
    first, second = broken.findings
    assert [(f.rule, depth) for f, depth in nested([second, first])] == [("POL001", 0), ("EXP001", 1)]
    ring = [replace(first, consequence_of="EXP001"), second]
    assert {f.rule for f, _ in nested(ring)} == {"POL001", "EXP001"}


def test_spark_marks_the_onset_and_what_is_not_finite() -> None:
    values = np.where(np.arange(100) < 50, 1.0, 9.0)
    values[20] = np.nan
    drawn = spark(Series("m", Curve(np.arange(100.0), values)), Onset(50, 52), 50, ascii_only=True)
    assert drawn.marks[10] == "x"
    assert drawn.marks[5] == "_"
    assert drawn.marks[40] == "#"
    assert drawn.pointer == " " * 25 + "^^ onset"
    assert drawn.caption == "1 to 9"


def test_spark_survives_a_single_point_and_nothing_finite() -> None:
    one = spark(Series("m", Curve(np.array([3.0]), np.array([2.0]))), Onset(3, 3), 20)
    assert len(one.marks) == 20
    none = spark(Series("m", Curve(np.arange(3.0), np.full(3, np.nan))), None, 20)
    assert none.caption == "no finite value"


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=100)
def test_plain_and_ascii_keep_one_visible_line(text: str) -> None:
    assert no_controls(plain(text))
    assert "\n" not in plain(text)
    assert to_ascii(plain(text)).isascii()


def test_words_for_numbers_times_and_paths() -> None:
    assert number(1234567.0) == "1,234,567"
    assert number(0.0123456) == "0.01235"
    assert number(float("-inf")) == "-inf"
    assert duration(90061) == "1 d 1:01:01"
    assert short_path("/a/b/c/d") == "c/d"
    assert short_path("") == "run"


def test_a_wall_clock_that_is_a_date_counts_from_its_start(broken: Diagnosis) -> None:
    assert broken.log.clocks is not None
    ties = replace(broken.log.clocks, others={"seconds": 1.7e9 + broken.log.clocks.others["seconds"]})
    phrase = onset_phrase(Onset(412, 420, "updates"), replace(broken.log, clocks=ties))
    assert phrase.endswith("0:07:30 into the run")


def test_ignored_findings_are_shown_with_their_reason(undecided: Diagnosis) -> None:
    ignored = replace(undecided.findings[0], ignored="sparse by design", severity=Severity.ERROR)
    text = render([replace(undecided, findings=(ignored,))], full=True)
    assert "ignored: sparse by design" in text
    assert "1 error" not in text


def test_what_an_undecided_run_leaves_open_is_told_with_the_evidence(undecided: Diagnosis, broken: Diagnosis) -> None:
    text = render([replace(undecided, notes=(ASKED, UNSEEN))])
    assert "open    prompts and reward as meant? a healthy run (--baseline)" in text
    assert "`firstbreak eval contamination`" in text
    assert "open  " not in render([replace(broken, notes=(ASKED,))])

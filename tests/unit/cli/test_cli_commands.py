from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import firstbreak.api
from firstbreak.causes import all_causes
from firstbreak.cli import main
from firstbreak.cli.commands import COMMANDS
from firstbreak.cli.preflight import WHAT
from firstbreak.finding import Link
from firstbreak.registry import all_rules
from firstbreak.symptoms import OUTSIDE_IN, match, symptoms
from firstbreak.vocabulary import metrics

from .conftest import Answer

Call = Callable[..., Answer]
SKILL = Path(firstbreak.api.__file__).parent / "skills" / "firstbreak"


def child(code: str, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **settings)  # type: ignore[call-overload]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from firstbreak.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'rich', 'jinja2', 'torch', 'pyarrow', 'tomllib', 'json'} & sys.modules.keys()))"
    )
    done = child(code)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert all(re.search(rf"^    {name}\b", text, re.M) for name in COMMANDS)


def test_without_arguments_the_help_is_shown(call: Call) -> None:
    answer = call()
    assert answer.status == 0
    assert "firstbreak demo" in answer.out


def test_a_path_instead_of_a_command_is_understood(call: Call, tmp_path: Path) -> None:
    answer = call(tmp_path)
    assert answer.status == 2
    assert f"firstbreak diagnose {tmp_path}" in answer.err


def test_python_dash_m_works() -> None:
    done = subprocess.run([sys.executable, "-m", "firstbreak", "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"firstbreak \d+\.\d+\.\d+\S*\n", done.stdout)


def test_a_closed_pipe_ends_quietly() -> None:
    code = "import sys\nfrom firstbreak.cli import main\nsys.exit(main(['rules']))"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_ctrl_c_ends_with_one_line(call: Call, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(firstbreak.api, "diagnose_runs", interrupted)
    answer = call("diagnose", runs)
    assert (answer.status, answer.err) == (128 + signal.SIGINT, "Interrupted.\n")


def test_rules_are_listed_under_their_links(call: Call) -> None:
    text = call("rules").out
    assert text.startswith("environment_data (")
    assert all(rule.code in text for rule in all_rules())
    only = call("rules", "--link", "critic", "--format", "json")
    listed = json.loads(only.out)["rules"]
    assert {r["link"] for r in listed} == {"critic"}
    assert len(listed) == sum(r.link == "critic" for r in all_rules())
    assert max(map(len, text.splitlines())) <= 80


def test_explain_a_rule_by_name_and_by_code(call: Call) -> None:
    page = call("explain", "kl-overshoot").out
    assert page == call("explain", "pol001").out
    for piece in ("One update moved the policy", "When it is harmless", "bound_nats = 1.0", "update-too-large"):
        assert piece in page


def test_explain_says_which_warnings_wait_until_the_return_is_lost(call: Call) -> None:
    assert "only once the return is lost" in call("explain", "action-saturation").out
    assert "only once the return is lost" not in call("explain", "kl-overshoot").out


def test_explain_a_metric_a_cause_and_a_topic(call: Call) -> None:
    assert "a metric of policy_update" in call("explain", "policy/kl_old").out
    assert "Prove it" in call("explain", "update-too-large").out
    assert call("explain", "settings").out.startswith("# Settings")
    listed = call("explain", "metrics").out
    assert all(f"        {name}: " in listed for name in metrics())
    for link in Link:
        page = call("explain", link.value).out
        assert page.startswith(f"{link}, a link of the training loop: ")
        assert all(rule.name in page for rule in all_rules() if rule.link is link)


def test_every_rule_and_cause_has_a_page_of_eighty_columns(call: Call) -> None:
    for named in (*all_rules(), *all_causes()):
        page = call("explain", named.name)
        assert page.status == 0
        assert max(map(len, page.out.splitlines())) <= 80


def test_compare_names_the_first_metric_that_parts(call: Call, runs: Path) -> None:
    a, b = runs / "sb3_ppo_lr01", runs / "sb3_ppo_cartpole"
    answer = call("compare", a, b)
    assert answer.status == 1
    assert answer.out.startswith("The runs part first in ")
    made = json.loads(call("compare", a, b, "--format", "json").out)
    assert made["outcome"] == "diverged"
    itself = call("compare", a, a)
    assert itself.status == 0
    assert "the same run" in itself.out
    assert "Metrics that part" not in itself.out


def test_demo_shows_both_runs_and_never_overwrites(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = call("demo"), call("demo")
    assert first.status == second.status == 0
    assert "BROKEN at policy_update" in first.out
    assert "HEALTHY in " in first.out
    assert {p.name for p in tmp_path.iterdir()} == {"firstbreak-report.html", "firstbreak-report-2.html"}
    assert "firstbreak-report-2.html" in second.out


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("reward flat from step 0", "flat-from-start"),
        ("reward rises then plateaus", "plateau"),
        ("reward oscillates wildly", "oscillates"),
        ("high reward but bad behaviour", "gamed-reward"),
        ("the trained return is about that of a random policy", "no-better-than-random"),
        ("reward slowly declining", "slow-decline"),
        ("everything is NaN", "not-finite"),
        ("grad_norm exploding", "gradients"),
        ("entropy collapsed", "no-exploration"),
        ("my Q values diverge in SAC", "q-values"),
        ("explained_variance < 0", "value-function"),
        ("clip_fraction = 0", "step-size"),
        ("responses get longer and longer", "length"),
        ("all answers in a group are identical", "same-answers"),
        ("throughput drops and gpu memory grows", "slow"),
        ("KL explodes", "step-size"),
        ("value loss explodes", "value-function"),
        ("gradients explode", "gradients"),
        ("the model outputs garbage", "gibberish"),
        ("agent does nothing", "does-nothing"),
        ("it learns nothing", "flat-from-start"),
        ("eval much worse than training reward", "eval-gap"),
        ("it was good and then forgot everything", "sudden-collapse"),
        ("the agent calls tools in a loop", "tools"),
        ("reward does not go up", "flat-from-start"),
        ("the return isn't increasing", "flat-from-start"),
        ("loss does not decrease", "flat-from-start"),
        ("success rate 0", "flat-from-start"),
        ("PPO doesn't converge", "flat-from-start"),
        ("reward goes up but behaviour is bad", "gamed-reward"),
        ("reward goes down", "slow-decline"),
        ("agent only goes left", "does-nothing"),
    ],
)
def test_start_finds_the_symptom(text: str, name: str) -> None:
    assert match(text)[0].name == name


def test_start_walks_from_the_outside_in(call: Call) -> None:
    order = {link: i for i, link in enumerate(OUTSIDE_IN)}
    for symptom in symptoms():
        places = [order[look.link] for look in symptom.looks]
        assert places == sorted(places)
        assert all(look.command or look.recipe for look in symptom.looks)
    text = call("start", "reward", "stays", "flat").out
    assert text.startswith("The reward is flat from the first step")
    assert text.index("environment_data: what a policy that acts at random") < text.index("reward_signal: how often")


def test_start_names_only_rules_and_commands_that_exist() -> None:
    known = {rule.name for rule in all_rules()}
    for symptom in symptoms():
        assert set(symptom.rules) <= known, (symptom.name, set(symptom.rules) - known)
        for look in symptom.looks:
            assert look.command is None or look.command.split()[1] in COMMANDS


def test_start_with_unknown_words_lists_what_it_knows(call: Call) -> None:
    answer = call("start", "blorb")
    assert answer.out.startswith("No symptom matches 'blorb'")
    assert "High reward, bad behaviour" in answer.out
    assert json.loads(call("start", "nan", "--format", "json").out)["symptoms"][0]["name"] == "not-finite"


def test_skill_is_short_and_names_only_what_exists(call: Call) -> None:
    text = call("skill").out
    assert len(text.splitlines()) <= 120
    matter = text.split("---")[1]
    assert re.search(r"^name: firstbreak$", matter, re.M)
    description = re.search(r"^description: (.*)$", matter, re.M)
    assert description is not None
    assert len(description.group(1)) <= 1024
    pages = [text, *(p.read_text("utf-8") for p in (SKILL / "references").glob("*.md"))]
    for page in pages:
        for command in re.findall(r"(?:^|`|    )firstbreak ([a-z]+)", page):
            assert command in COMMANDS, command
    listed = call("skill", "--list").out.split()
    assert listed == ["json", "links", "settings", "symptoms"]
    for name in re.findall(r"--reference ([a-z]+)", "".join(pages)):
        assert name in listed
    assert call("skill", "--reference", "json").out.startswith("# The JSON contract")


def test_options_named_in_the_skill_exist(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    offered = ""
    for words in [*([name] for name in COMMANDS), *(["preflight", what] for what in WHAT)]:
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        offered += capsys.readouterr().out
    for option in set(re.findall(r"(--[a-z-]+)", (SKILL / "SKILL.md").read_text("utf-8"))) - {"--help", "---", "--"}:
        assert option in offered, option

"""Secrets: from the environment only, encrypted on the way, said nowhere."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.monitor.alerts import Alert, Console, File, Post, Slack, Webhook
from firstbreak.monitor.verdict import Notice

Make = Callable[..., Notice]
LONG_S = 20.0
SECRET = "s3cr3tT0ken"


def test_a_secret_goes_out_encrypted_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setenv("FIRSTBREAK_SLACK_WEBHOOK", f"http://hooks.example/{SECRET}")
    with pytest.raises(InputError, match=r"http://hooks\.example unencrypted"):
        Slack()
    with pytest.raises(InputError, match="unencrypted"):
        Webhook("http://hooks.example/x", token_from="MY_TOKEN")
    Webhook("http://hooks.example/x")
    Webhook("https://hooks.example/x", token_from="MY_TOKEN")
    Webhook("http://127.0.0.1/x", token_from="MY_TOKEN")


@pytest.mark.parametrize(
    "given", ["https://hooks.slack.com/services/T0/B0/" + SECRET, SECRET, "xoxb-" + SECRET, "", "A" * 100]
)
def test_a_secret_in_the_place_of_a_variable_is_not_repeated(given: str) -> None:
    for make in (Slack, lambda name: Webhook("https://h/x", token_from=name or "-")):
        with pytest.raises(InputError, match="not the name of a variable") as caught:
            make(given)
        assert not given or given not in str(caught.value)


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRSTBREAK_SLACK_WEBHOOK", raising=False)
    with pytest.raises(InputError, match="FIRSTBREAK_SLACK_WEBHOOK, which is not set"):
        Slack()


def attempts(make_notice: Make, alert: Alert) -> str:
    """Everything that is ever said when `alert` fails: its name, its state, the error with its whole past."""
    said = [repr(alert), str(vars(alert))]
    try:
        alert.send(make_notice())
    except Exception as error:
        said += [str(error), repr(error), "".join(traceback.format_exception(error)), str(vars(error))]
        said += [repr(error.__context__), repr(error.__cause__)]
    return "\n".join(said)


@pytest.mark.parametrize("answer", [200, 302, 404, 500, "silent", "closed", "junk", "unset"])
def test_a_secret_is_said_nowhere(
    answer: Any, make_notice: Make, serve: Any, silent_url: str, closed_url: str, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any, capsys: pytest.CaptureFixture[str], clock: Any,
) -> None:  # fmt: skip
    url = {"silent": silent_url, "closed": closed_url}.get(answer) or serve(
        (answer, {"Location": "/" + SECRET}) if isinstance(answer, int) else 200
    ).url
    monkeypatch.setenv("FIRSTBREAK_SLACK_WEBHOOK", f"{url}/{SECRET}?key={SECRET}")
    monkeypatch.setenv("MY_TOKEN", SECRET)
    alerts: list[Alert] = [Slack(timeout_s=0.05), Webhook(url_from="FIRSTBREAK_SLACK_WEBHOOK", timeout_s=0.05)]
    alerts.append(Webhook(f"{url}?plain=1", token_from="MY_TOKEN", sign_from="MY_TOKEN", timeout_s=0.05))
    if answer == "junk":
        monkeypatch.setenv("FIRSTBREAK_SLACK_WEBHOOK", f"{url}/{SECRET}\x01")
        monkeypatch.setenv("MY_TOKEN", f"{SECRET}\nX-Evil: 1")
    if answer == "unset":
        monkeypatch.delenv("FIRSTBREAK_SLACK_WEBHOOK")
        monkeypatch.delenv("MY_TOKEN")
    said = "\n".join(attempts(make_notice, alert) for alert in alerts)
    post = Post([*alerts, Console(), File(tmp_path / "f")], sleep=clock.sleep, now=clock.now)
    post.send(make_notice())
    assert post.drain(LONG_S)
    post.close()
    printed = capsys.readouterr()
    said += "\n".join([*post.faults, printed.out, printed.err, (tmp_path / "f").read_text(), repr(post.standing())])
    assert (answer == 200) is (post.faults == [])
    assert SECRET not in said

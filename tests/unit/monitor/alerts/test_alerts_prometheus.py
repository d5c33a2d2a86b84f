"""The page for Prometheus, read back by a small parser of its own, over a real connection."""

from __future__ import annotations

import contextlib
import math
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.monitor.alerts import Post, Prometheus, Readings, prometheus
from firstbreak.monitor.alerts.exposition import OPENMETRICS, PROMETHEUS, expose
from firstbreak.monitor.alerts.readings import AlarmCount, latest_of
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Alarm

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
PAIR = re.compile(rf'({NAME})="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
SAMPLE = re.compile(rf"({NAME})\{{(.*)\}} (\S+)")
ESCAPE = re.compile(r"\\(.)")

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def alarm(name: str = "kl-overshoot", severity: Severity = Severity.ERROR) -> Alarm:
    onset = Onset(1, 2, "updates")
    finding = Finding("POL001", name, Link.POLICY_UPDATE, Component.OPTIMISER, severity, onset, "m", "policy/kl_old")
    return Alarm(finding, 1.0, 1, 0.0)


def parse(page: str) -> tuple[Samples, dict[str, str]]:
    """Read a page strictly: every sample belongs to a declared family, families are in one piece, no sample twice."""
    samples: Samples = {}
    kinds: dict[str, str] = {}
    family = ""
    assert page.endswith("\n")
    for line in page.removesuffix("\n").split("\n"):
        if line == "# EOF":
            assert page.endswith("# EOF\n")
        elif line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in kinds
            kinds[family] = kind
        elif not line.startswith("# HELP "):
            found = SAMPLE.fullmatch(line)
            assert found, line
            name, labels, value = found.groups()
            assert name in (family, f"{family}_total")
            pairs = PAIR.findall(labels)
            assert PAIR.sub("", labels) == ""
            plain = tuple((k, ESCAPE.sub(lambda m: {"n": "\n"}.get(m[1], m[1]), v)) for k, v in pairs)
            assert (name, plain) not in samples
            samples[name, plain] = float(value)
    return samples, kinds


@pytest.fixture
def running() -> Iterator[list[Prometheus]]:
    made: list[Prometheus] = []
    yield made
    for one in made:
        one.close()


def scrape(url: str, **headers: str) -> tuple[str, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, headers=headers), timeout=10) as answer:
        return answer.read().decode("utf-8"), answer.headers["Content-Type"]


def state(latest: Mapping[str, float], *alarms: Alarm) -> Readings:
    return Readings(lambda: latest, lambda: alarms)


def test_a_scrape_shows_values_and_alarms(running: list[Prometheus]) -> None:
    source = state({"train/approx_kl": 0.01, "loss": math.nan, "q": -math.inf}, alarm(), alarm(), alarm("other"))
    running.append(Prometheus(source, port=0))
    page, kind = scrape(running[0].url)
    samples, kinds = parse(page)
    assert kind == PROMETHEUS
    assert samples["firstbreak_train_approx_kl", (("key", "train/approx_kl"),)] == 0.01
    assert math.isnan(samples["firstbreak_loss", (("key", "loss"),)])
    assert samples["firstbreak_q", (("key", "q"),)] == -math.inf
    counts = {dict(labels)["rule"]: v for (name, labels), v in samples.items() if name == "firstbreak_alarms_total"}
    assert counts == {"kl-overshoot": 2, "other": 1}
    assert kinds["firstbreak_alarms_total"] == "counter"
    assert kinds["firstbreak_loss"] == "gauge"


def test_openmetrics_is_served_to_those_who_ask(running: list[Prometheus]) -> None:
    running.append(Prometheus(state({"a": 1.0}, alarm()), port=0))
    page, kind = scrape(running[0].url, Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    samples, kinds = parse(page)
    assert kind == OPENMETRICS
    assert page.endswith("# EOF\n")
    assert kinds == {"firstbreak_a": "gauge", "firstbreak_alarms": "counter"}
    labels = (("code", "POL001"), ("rule", "kl-overshoot"), ("link", "policy_update"), ("severity", "error"))
    assert samples["firstbreak_alarms_total", labels] == 1


KEYS = st.one_of(
    st.text(max_size=12), st.sampled_from(["alarms", "alarms_total", "a/b", "a_b", "a.b", "", "漢", "\\n"])
)


@given(st.dictionaries(KEYS, st.floats(), max_size=12), st.booleans())
def test_every_key_is_on_the_page_and_the_page_is_sound(latest: dict[str, float], openmetrics: bool) -> None:
    samples, kinds = parse(expose(latest, {("C", 'r"\\\n', "l", "s"): 3}, openmetrics=openmetrics))
    assert all(re.fullmatch(NAME, name) for name in kinds)
    gauges = {labels[0][1]: v for (_, labels), v in samples.items() if labels[0][0] == "key"}
    for key, value in latest.items():
        if key.isascii() and key.isprintable() and "\\" not in key:
            assert gauges[key] == value or (math.isnan(value) and math.isnan(gauges[key]))
    assert len(gauges) == len({k.replace("\t", " ") for k in latest})


def test_ten_thousand_metrics_and_long_names_are_served(running: list[Prometheus]) -> None:
    running.append(Prometheus(state({f"m/{i}": float(i) for i in range(10_000)} | {"x" * 10**6: 1.0}), port=0))
    page, _ = scrape(running[0].url)
    samples, _ = parse(page)
    assert len(samples) == 10_001
    assert len(page) < 3_000_000


def test_the_monitor_is_the_source_when_it_has_the_alert(running: list[Prometheus]) -> None:
    running.append(Prometheus(port=0))
    assert parse(scrape(running[0].url)[0])[0] == {}
    monitor = Monitor()
    monitor.latest["loss"] = 2.5
    monitor.alarms.append(alarm())
    Post([running[0]], source=monitor).close()
    assert parse(running[0].page())[0]["firstbreak_loss", (("key", "loss"),)] == 2.5
    assert "firstbreak_alarms_total{" in running[0].page()


def test_nothing_is_read_until_somebody_asks(running: list[Prometheus]) -> None:
    asked: list[int] = []

    def latest() -> dict[str, float]:
        asked.append(1)
        return {}

    running.append(Prometheus(Readings(latest), port=0))
    assert asked == []
    scrape(running[0].url)
    assert asked == [1]


def test_other_pages_and_faults_of_the_source_are_answers_too(running: list[Prometheus]) -> None:
    def broken() -> dict[str, float]:
        raise ValueError("s3cr3t")

    running.append(Prometheus(Readings(broken), port=0))
    with pytest.raises(urllib.error.HTTPError) as caught:
        scrape(running[0].url)
    assert caught.value.code == 500
    assert caught.value.read() == b"ValueError\n"
    caught.value.close()
    with pytest.raises(urllib.error.HTTPError) as caught:
        scrape(running[0].url.replace("/metrics", "/etc/passwd"))
    assert caught.value.code == 404
    caught.value.close()


def test_it_listens_on_this_machine_only_and_frees_its_port() -> None:
    one = Prometheus(port=0)
    port = int(one.url.split(":")[2].split("/")[0])
    assert one.url.startswith("http://127.0.0.1:")
    with pytest.raises(InputError, match=f"Port {port} of 127.0.0.1 cannot be had"):
        Prometheus(port=port)
    one.close()
    one.close()
    again = Prometheus(port=port)
    again.close()


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_does_not_exist_is_refused(port: int) -> None:
    with pytest.raises(InputError, match="cannot be had"):
        Prometheus(port=port)


def test_junk_and_hang_ups_do_not_end_the_server(running: list[Prometheus], capsys: pytest.CaptureFixture[str]) -> None:
    running.append(Prometheus(state({"a": 1.0}), port=0))
    port = int(running[0].url.split(":")[2].split("/")[0])
    for junk in (b"", b"\x00\xff\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"POST /metrics HTTP/1.0\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port)) as peer:
            peer.sendall(junk)
    assert "firstbreak_a" in scrape(running[0].url)[0]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("asked", [b"", b"GET /metr"], ids=["nothing", "half a line"])
def test_clients_that_hang_hold_up_neither_another_nor_the_end(asked: bytes) -> None:
    served = Prometheus(state({"a": 1.0}), port=0)
    port = int(served.url.split(":")[2].split("/")[0])
    with contextlib.ExitStack() as open_ones:
        for _ in range(3):
            peer = open_ones.enter_context(socket.create_connection(("127.0.0.1", port)))
            peer.sendall(asked)
        assert "firstbreak_a" in scrape(served.url)[0]
        served.close()
        with pytest.raises(OSError):  # noqa: PT011 - refused or reset
            socket.create_connection(("127.0.0.1", port), timeout=1.0)


def test_a_client_that_trickles_is_left_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "ASKING_S", 0.2)
    served = Prometheus(state({"a": 1.0}), port=0)
    port = int(served.url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=0.02) as peer:
        for _ in range(1000):
            try:
                peer.sendall(b"G")
                if peer.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("it was listened to for ever")
    served.close()


def test_of_many_that_hang_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "MOST_AT_ONCE", 2)
    served = Prometheus(state({"a": 1.0}), port=0)
    port = int(served.url.split(":")[2].split("/")[0])
    with contextlib.ExitStack() as open_ones:
        peers = [open_ones.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(6)]
        turned_away = 0
        for peer in reversed(peers):
            peer.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                turned_away += peer.recv(1) == b""
        assert turned_away == 4
    served.close()


def test_training_may_add_keys_during_a_scrape() -> None:
    latest: dict[str, float] = {}
    stop = threading.Event()

    def train() -> None:
        i = 0
        while not stop.is_set():
            latest[f"k{i % 5000}"] = 1.0
            i += 1
            if i % 5000 == 0:
                latest.clear()

    thread = threading.Thread(target=train)
    thread.start()
    try:
        for _ in range(50):
            assert all(value == 1.0 for value in latest_of(Readings(lambda: latest)).values())
    finally:
        stop.set()
        thread.join()


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 10))
def test_the_count_of_alarms_never_falls_though_old_ones_are_forgotten(steps: list[int], kept: int) -> None:
    count, alarms, every = AlarmCount(), list[Alarm](), 0
    readings = Readings(dict, lambda: alarms)
    for new in (min(step, kept) for step in steps):  # asked before more is forgotten than is kept
        alarms += [alarm() for _ in range(new)]
        del alarms[:-kept]
        every += new
        assert sum(count.of(readings).values()) == every

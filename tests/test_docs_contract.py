"""The pages say what the code says: no unknown name, no outdated page, every rule with a page of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firstbreak.causes import all_causes
from firstbreak.registry import all_rules
from firstbreak.vocabulary import framework, metrics
from tools.build_docs import build, problems, site_pages
from tools.docs_names import Known, hand_pages
from tools.docs_pages import metrics_page, rules_index, table

ROOT = Path(__file__).resolve().parent.parent


def test_no_page_names_what_does_not_exist_and_none_is_outdated() -> None:
    assert problems() == []


@pytest.fixture(scope="module")
def known() -> Known:
    return Known(ROOT)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("see `kl-overshot`", "'kl-overshoot'"),
        ("see `POL999`", "No rule named 'POL999'"),
        ("see `policy/kl_olt`", "'policy/kl_old'"),
        ("use `--fromat json`", "'--format'"),
        ("use `firstbreak diagnose x --lsat 20%`", "'--last'"),
        ("use `firstbreak diagnos x`", "'diagnose'"),
        ("run `make tset`", "'test'"),
        ("```sh\nfirstbreak explian kl-overshoot\n```", "'explain'"),
    ],
)
def test_a_wrong_name_is_found_and_the_right_one_offered(known: Known, text: str, complaint: str) -> None:
    (found,) = known.wrong(text)
    assert complaint in found


@pytest.mark.parametrize(
    "text",
    [
        "`kl-overshoot` `POL001` `policy/kl_old` `--format json` `firstbreak diagnose x` `make test`",
        "`pip install --upgrade x`, `src/firstbreak/rules`, `tests/rules`, plain kl-overshot",
        "```\nsome --unknown option and `kl-overshot`\n```",
    ],
)
def test_right_names_and_other_tools_are_left_alone(known: Known, text: str) -> None:
    assert known.wrong(text) == []


def test_every_rule_metric_and_cause_is_on_its_page() -> None:
    pages = site_pages()
    assert {f"rules/{r.name}.md" for r in all_rules()} <= set(pages)
    assert all(f"`{r.name}`" in rules_index() and r.code in rules_index() for r in all_rules())
    assert all(f"`{name}`" in metrics_page() for name in metrics())
    assert all(f"### {c.name}\n" in pages["causes.md"] for c in all_causes())
    assert "## firstbreak diagnose" in pages["cli.md"]


def test_links_between_built_pages_lead_somewhere(tmp_path: Path) -> None:
    for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "Makefile", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    for page in hand_pages(ROOT):
        target = tmp_path / page.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page.read_text("utf-8"), "utf-8")
    assert build(tmp_path) > 20
    site = tmp_path / "site"
    pages = [*site.rglob("*.md"), *hand_pages(tmp_path)]
    broken = [
        f"{page.relative_to(tmp_path)}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text("utf-8"))
        if not (page.parent / link).exists() and "docs/" not in link
    ]
    assert broken == []


def test_the_page_of_metrics_shows_the_keys_of_frameworks() -> None:
    (line,) = [line for line in metrics_page().splitlines() if 'id="policy-kl_old"' in line]
    assert "stable_baselines3: `train/approx_kl`" in line
    assert "## " + framework("trl").title in site_pages()["frameworks.md"]


def test_text_cannot_break_a_table() -> None:
    assert table(("a",), [("x | y\nz",)]).splitlines()[-2:] == ["| x \\| y z |", ""]

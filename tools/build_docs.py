"""Builds the documentation into site/, and the two generated pages that are kept in docs/.

python -m tools.build_docs            build everything; fail on an unknown name
python -m tools.build_docs --check    write nothing; fail on an unknown name or an outdated page in docs/
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from firstbreak.check import all_checks
from firstbreak.registry import all_rules
from tools.docs_names import hand_pages, wrong_names
from tools.docs_pages import (
    causes_page,
    check_page,
    checks_index,
    cli_page,
    frameworks_page,
    metrics_page,
    rule_page,
    rules_index,
)

ROOT = Path(__file__).resolve().parent.parent


def kept_pages() -> dict[str, str]:
    """Generated pages that are committed, so that they can be read on a code host."""
    return {"docs/rules.md": rules_index(), "docs/checks.md": checks_index(), "docs/metrics.md": metrics_page()}


def site_pages() -> dict[str, str]:
    """Generated pages of the site, by path below it."""
    pages = {f"rules/{rule.name}.md": rule_page(rule) for rule in all_rules()}
    pages |= {f"checks/{check.name}.md": check_page(check) for check in all_checks()}
    index = rules_index()
    for rule in all_rules():
        index = index.replace(f"| `{rule.name}` |", f"| [`{rule.name}`](rules/{rule.name}.md) |")
    pages |= {"rules.md": index, "metrics.md": metrics_page(), "causes.md": causes_page()}
    return pages | {"frameworks.md": frameworks_page(), "cli.md": cli_page()}


def problems(root: Path = ROOT) -> list[str]:
    """Unknown names, and kept pages that are not what the code says."""
    found = wrong_names(root)
    for name, text in kept_pages().items():
        path = root / name
        if not path.exists() or path.read_text("utf-8") != text:
            found.append(f"{name}: differs from the code; run `make docs` and commit it")
    return found


def build(root: Path = ROOT) -> int:
    """Write every page; return how many the site has."""
    for name, text in kept_pages().items():
        (root / name).write_text(text, "utf-8")
    site = root / "site"
    shutil.rmtree(site, ignore_errors=True)
    pages = {str(p.relative_to(root)).removeprefix("docs/"): p.read_text("utf-8") for p in hand_pages(root)}
    pages |= site_pages()
    for name, text in pages.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, "utf-8")
    return len(pages)


def main() -> int:
    """Build or check; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    if not check:
        print(f"{build()} pages in site/")
    found = problems()
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Takes personal data out of texts that are shown: addresses, phones, cards, accounts, keys, names of home folders.

Every pattern runs in linear time: what repeats without bound is possessive (it never gives back what it took), and a
look behind keeps a search from starting again inside a run that it has seen.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

Judge = Callable[[str], int]
"""Returns how many characters of a candidate are masked, 0 for none."""


def _all(found: str) -> int:
    return len(found)


def _digits(text: str) -> str:
    return "".join(c for c in text if c in "0123456789")


def is_card(number: str) -> bool:
    """Whether digits are those of a payment card: a known issuer's beginning and length (ISO/IEC 7812), Luhn's sum."""
    size, start = len(number), number[:2]
    known = (
        (number[:1] == "4" and size in {13, 16, 19})
        or (size == 16 and ("51" <= start <= "55" or "22" <= start <= "27" or start in {"35", "60", "65"}))
        or (size == 15 and start in {"34", "37"})
        or (size == 14 and start in {"30", "36", "38"})
    )
    doubled = sum(sum(divmod(2 * int(c), 10)) for c in number[-2::-2])
    return known and (doubled + sum(map(int, number[-1::-2]))) % 10 == 0


def is_iban(account: str) -> bool:
    """Whether capitals and digits form an account number: remainder 1 by 97 (ISO 13616)."""
    if not 15 <= len(account) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in account[4:] + account[:4])) % 97 == 1


def _card(found: str) -> int:
    return len(found) if is_card(_digits(found)) else 0


def _account(found: str) -> int:
    """Mask the longest beginning, up to the end of a word, that is an account: capitals may follow it."""
    ends = [i for i in range(15, len(found) + 1) if i == len(found) or found[i] == " "]
    return next((end for end in reversed(ends) if is_iban(found[:end].replace(" ", ""))), 0)


def _phone(found: str) -> int:
    return len(found) if 8 <= len(_digits(found)) <= 15 else 0


def _social(found: str) -> int:
    """Mask what may be a US social security number: not area 000, 666 or 9xx, group 00, serial 0000 (SSA, 2011)."""
    area, group, serial = found.split("-")
    return 0 if area in {"000", "666"} or area >= "900" or group == "00" or serial == "0000" else len(found)


def _address4(found: str) -> int:
    return len(found) if all(int(part) < 256 for part in found.split(".")) else 0


def _address6(found: str) -> int:
    if not 6 <= len(found) <= 45 or sum(map(bool, found.split(":"))) < 3:
        return 0
    try:
        ipaddress.IPv6Address(found)
    except ValueError:
        return 0
    return len(found)


def _mixed(found: str) -> int:
    """Mask what has letters and digits: random keys have both, words and numbers only one."""
    value = found[-200:]
    return len(found) if any(c.isdigit() for c in value) and any(c.isalpha() for c in value) else 0


PATTERNS: tuple[tuple[str, str, Judge], ...] = (
    (r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*+(?:-----END [A-Z ]{0,40}-----)?+", "[key]", _all),
    (r"(?<=://)[^\s/@:]{1,200}+:[^\s/@]{1,200}+(?=@)", "[key]", _all),
    (
        r"(?<![A-Za-z0-9_])(?:hf_|sk-|pk-|rk_live_|sk_live_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xox[abeprs]-"
        r"|AKIA|ASIA|AIza|ya29\.|eyJ|npm_|pypi-|dop_v1_|SG\.|nvapi-|gsk_|r8_)[\w.-]{8,}+",
        "[key]",
        _all,
    ),
    (r"(?<![A-Za-z0-9])[0-9a-fA-F]{32,}+(?![A-Za-z0-9])", "[key]", _mixed),
    (
        r"(?<=(?i:ret|key|ken|ord|pwd|rer))(?:[\"']?+\s{0,3}+[:=]\s{0,3}+[\"']?+|\s{1,3}+)[A-Za-z0-9+/=_-]{16,}+",
        "[key]",
        _mixed,
    ),
    (r"(?<=(?i:ssword|passwd))[\"']?+\s?+[:=]\s{0,3}+[\"']?+[^\s\"',;<>]{4,200}+", "[key]", _all),
    (r"(?<![\w.+%-])[\w.+%-]++@[\w-]++(?:\.[\w-]++)++", "[e-mail]", _all),
    (r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?+[A-Z0-9]){11,30}+(?![a-z0-9])", "[account]", _account),
    (r"(?<![0-9.])[0-9](?:[ -]?+[0-9]){12,18}+(?![0-9])", "[card]", _card),
    (r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9]|\.[0-9])", "[address]", _address4),
    (r"(?<![\w:.])[0-9A-Fa-f:]++(?![\w:])", "[address]", _address6),
    (r"(?<![\w.+/*^(=-])(?:\+|00)[1-9](?:[ .()/-]{0,2}+[0-9]){7,14}+(?![0-9])", "[phone]", _phone),
    (r"(?<![\w.+/*=-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![\w-]|\s?=)", "[number]", _social),
    (r"(?<![\w.+/-])\(?[0-9]{3}\)?[ .-][0-9]{3}[.-][0-9]{4}(?![\w.-])", "[phone]", _all),
    (r"(?<![\w.+/-])0[1-9][0-9]{1,3}[ /-][0-9]{5,8}(?![\w-])", "[phone]", _all),
    (r"(?<=[\\/](?:home)[\\/])[^\\/\s:;,'\"<>|]++", "[name]", _all),
    (r"(?<=[\\/](?i:users)[\\/])[^\\/\s:;,'\"<>|]++", "[name]", _all),
    (r"(?<=[\\/](?i:users)\\\\)[^\\/\s:;,'\"<>|]++", "[name]", _all),
)
"""Pattern, what stands instead, and who judges a candidate; tried in this order."""
_COMPILED = tuple((re.compile(pattern), instead, judge) for pattern, instead, judge in PATTERNS)


def masked(text: str) -> str:
    """Return `text` with personal data and keys replaced by what they were: `[e-mail]`, `[phone]`, `[key]`...

    What has a checksum (cards, accounts) is masked only where it is right. Names of people, and numbers that look like
    any other number, are not found: masking makes an accident less likely, it does not make a text anonymous.
    """
    for pattern, instead, judge in _COMPILED:
        text = _replaced(text, pattern, instead, judge)
    return text


def _replaced(text: str, pattern: re.Pattern[str], instead: str, judge: Judge) -> str:
    parts: list[str] = []
    copied = at = 0
    while found := pattern.search(text, at):
        start, size = found.start(), judge(found[0])
        if size:
            parts += [text[copied:start], instead]
            copied = at = start + size
        else:
            at = found.end()
    return text if not parts else "".join([*parts, text[copied:]])

"""Plain words: patterns that a reader whose first language is not English cannot map onto the field stay out."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "smartcl"

#: Riddles and personifications, each with what to write instead.
REFUSED = {
    r"\bso (?:many|much|often|long)\b(?! as\b)": "say the number, or 'a number of', 'this share', 'how often'",
    r"\bwho knows\b": "name the thing that knows",
    r"\b(?:asleep|awake|wakes?|woken|sleeps?|sleeping)\b": "say idle, active",
    r"\belders?\b": "say older copy",
    r"\bscouts?\b": "say trial network",
    r"\bshy\b": "say what is small or rare",
    r"\btorn\b": "say incomplete or half-written",
    r"\bhang(?:s)? on\b": "say depends on",
    r"\bby heart\b": "say memorised",
    r"\bflicker\b": "say short change",
    r"\bworlds?\b": "say concept, task or domain",
    r"\bnobody\b": "say no caller, no test, none",
    r"\bastray\b": "say diverged, wrong",
    r"\bout of nothing\b": "say from nothing that is known",
}
#: How the first line of a module may not begin: it says what the module is.
FIRST_WORDS = re.compile(r"(?:Who|What|How|Where|When|Why)\b")

FILES = sorted(SOURCE.rglob("*.py"))
PARTS = sorted({path.relative_to(SOURCE).parts[0] for path in FILES})


def words_of(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings, comments and texts of a file, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)):
            yield token.start[0], " ".join(re.sub(r"``[^`]*``", "", token.string).split())


@pytest.mark.parametrize("name", PARTS)
def test_no_riddle_is_left(name: str) -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {match[0]!r}: {instead}"
        for path in FILES
        if path.relative_to(SOURCE).parts[0] == name
        for line, words in words_of(path)
        for pattern, instead in REFUSED.items()
        for match in re.finditer(pattern, words, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name
)
def test_no_riddle_is_left_on_a_page(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    found = {match[0]: instead for word, instead in REFUSED.items() for match in re.finditer(word, text, re.IGNORECASE)}
    assert not found


def test_the_first_line_of_a_module_says_what_it_is() -> None:
    first = {path: (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0] for path in FILES}
    assert [str(path.relative_to(SOURCE)) for path, line in first.items() if not line or FIRST_WORDS.match(line)] == []

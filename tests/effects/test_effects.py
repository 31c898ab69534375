"""The order of effects: random programs with Variables do eagerly and compiled the same.

`python -m tests.campaigns.effects --count 2000` runs more of them.
"""

from __future__ import annotations

from collections import Counter

from tests.campaigns import effects


def test_random_programs(quick_compilation: None) -> None:
    assert effects.run(range(40), seed=1) == []


def test_they_have_everything() -> None:
    text = "\n".join(effects.Program(1, k).source for k in range(200))
    words = Counter(
        word for word in ("while ", "for ", "if ", "else:", "break", "continue", "with ", ".assign(", "assign_add", "bump(", "print(") if word in text
    )
    assert len(words) == 11

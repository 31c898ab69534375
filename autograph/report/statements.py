"""What is known of one statement of a function: what it carries, and how it is run."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class StatementVariable:
    """A variable that a statement assigns, or a place in an object or array that it changes.

    `role` is "loop variable", "result", "local" or "place"; `before` and `after` are types.
    """

    name: str
    role: str
    why: str
    before: str = ""
    after: str = ""

    @property
    def type(self) -> str:
        """The type after the statement, and the one before where they differ."""
        return f"{self.before} → {self.after}" if self.before and self.before != self.after else self.after or self.before


@dataclass
class Statement:
    """An `if`, `while`, `for` or `match`, or an expression that is staged.  `path` says in which blocks of which statements it stands."""

    line: int
    end_line: int
    kind: str
    text: str
    path: tuple[tuple[int, str], ...] = ()
    became: str = ""
    why: str = ""
    variables: list[StatementVariable] = field(default_factory=list)

    def carried(self) -> list[StatementVariable]:
        """The variables that it hands on."""
        return [v for v in self.variables if v.role != "local"]

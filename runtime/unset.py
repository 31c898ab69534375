"""Variables that may be unset: `Unset` in Python, `Maybe` where only the traced values know.

Reading a variable that is surely unset is Python's UnboundLocalError; where traced values decide, it is refused.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.errors import UnsetError
from autograph.runtime.frames import in_block
from autograph.runtime.places import here
from autograph.runtime.values import Maybe, Unset


def read(x: Any) -> Any:
    """The value of a variable that the source does not prove to be set.

    Raises UnboundLocalError where it is unset, and UnsetError (AG301) where only traced values know.
    """
    if type(x) is Unset and not in_block():
        raise unbound(x.name)
    if type(x) is Maybe or type(x) is Unset:
        raise UnsetError(
            f"`{x.name}` may be unset here: it is set only on some paths, and traced values decide which", here(),
            f"give `{x.name}` a value before the branch or loop that sets it",
        )  # fmt: skip
    return x


def some(x: Any) -> Any:
    """The value of a variable that the source proves to be set here, though it is unset on other paths."""
    return x.value if type(x) is Maybe else read(x) if type(x) is Unset else x


def read_free(x: Any) -> Any:
    """`read` for a variable of an enclosing function, whose error is Python's NameError."""
    if type(x) is Unset and not in_block():
        raise NameError(f"cannot access free variable '{x.name}' where it is not associated with a value in enclosing scope", name=x.name)
    return read(x)


def unbound(name: str) -> UnboundLocalError:
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")

"""A whole file: what is converted, what stays byte for byte, and that the result runs without the transpiler."""

from __future__ import annotations

import ast
import difflib
import os
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import autograph as ag
from autograph.commands.cli import main
from autograph.forms.module import functions, transpile
from autograph.source.errors import SourceUnavailable
from tests.sourced import define

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(p for p in (ROOT / "examples").glob("*.py") if "@ag." in p.read_text(encoding="utf-8"))  # a static graph has nothing to convert
TRAINING = {
    "characters",
    "deep_mnist",
    "digits",
    "parameter_server",
    "residual",
}  # take options and long, and tell how long: `test_training_examples.py`

BODY = "    if x > 0:\n        return 1\n    return -1\n"
NEW = "    return ag.cond(x > 0, lambda: 1, lambda: -1)\n"
F = f"def f(x):\n{BODY}"
F_NEW = f"def f(x):\n{NEW}"


def runs(text: str, **names: Any) -> dict[str, Any]:
    """What the converted text defines when it is executed."""
    space: dict[str, Any] = {"__name__": "converted", **names}
    exec(compile(text, "<converted>", "exec", dont_inherit=True), space)
    return space


def touched(old: str, new: str) -> set[int]:
    """The lines of the old text (from 1) that are gone or have something new before them."""
    lines: set[int] = set()
    for tag, first, last, _, _ in difflib.SequenceMatcher(None, old.splitlines(True), new.splitlines(True), autojunk=False).get_opcodes():
        if tag != "equal":
            lines |= set(range(first + 1, last + 1)) or {first + 1}
    return lines


# Which functions


def test_only_decorated_functions_and_what_they_call_change() -> None:
    old = textwrap.dedent('''\
        """Doc."""  # a comment
        import autograph as ag
        import numpy   as   np

        TABLE = [ 1,2,
                  3 ]   # not laid out


        def untouched( a,b = 1 ) :
            if a > 0 : return b
            return   helper(a)


        def second(x):
            return 1 if x > 0 else 2


        def first(x):
            return second(x) if x > 1 else 3


        @ag.function
        def start(x):
            return first(x) if x > 2 else 4


        @untouched
        def decorated(x):
            return 1 if x > 0 else 2


        @ag.convert
        def other(x):
            return decorated(x) if x > 2 else Things().low(x)


        class Things:
            def low(self, x):
                return 1 if x > 0 else 2

            def high(self, x):
                return 3 if x > 0 else 2

        if  __name__ == "__main__" : print( start( 3 ) )
        ''')
    new = transpile(old)
    want = {
        "import autograph as ag": "import autograph.runtime as ag",
        "    return 1 if x > 0 else 2": "    return ag.cond(x > 0, lambda: 1, lambda: 2)",
        "        return 1 if x > 0 else 2": "        return ag.cond(x > 0, lambda: 1, lambda: 2)",
        "    return second(x) if x > 1 else 3": "    return ag.cond(x > 1, lambda: ag.call(second)(x), lambda: 3)",
        "@ag.function": "@ag.jit",
        "    return first(x) if x > 2 else 4": "    return ag.cond(x > 2, lambda: ag.call(first)(x), lambda: 4)",
        "@ag.convert": "@ag.converted",
        "    return decorated(x) if x > 2 else Things().low(x)": "    return ag.cond(x > 2, lambda: ag.call(decorated)(x), lambda: ag.call(ag.call(Things)().low)(x))",
    }
    lines: list[str] = []
    inside = ""
    for line in old.splitlines():
        inside = line.split("(")[0] if line.startswith(("def", "class")) else inside
        stays = inside in ("def untouched", "def decorated") and line.startswith(" ")
        if stays or line not in want:
            lines.append(line)
        elif (changed := want[line]) is not None:
            lines.append(changed)
    assert new.splitlines() == lines
    assert new.endswith("print( start( 3 ) )\n")


def test_a_call_chain_that_returns_to_its_start() -> None:
    text = "import autograph as ag\n\n\ndef a(n):\n    return b(n - 1) if n > 0 else 0\n\n\n@ag.convert\ndef b(n):\n    return a(n - 1) if n > 0 else 1\n"
    new = transpile(text)
    assert new.count("ag.cond") == 2 and new.count("@") == 1 and "@ag.converted\ndef b" in new
    assert runs(new)["b"](5) == 0 and runs(new)["b"](4) == 1


def test_nothing_to_convert_changes_nothing() -> None:
    for text in (
        "",
        "\n",
        "x = 1",
        "import autograph as ag\n",
        "import autograph as ag\n" + F,
        "from autograph import function\n\n\n\nx = [ function ]\n",
    ):
        assert transpile(text) == text


def test_every_function() -> None:
    text = f"import os\n\n\n{F}\n\nclass A:\n    def g(self, x):\n        return 1 if x > 0 else 2\n\n    class B:\n        def h(self): return 1 if os else 2\n"
    assert transpile(text) == text
    assert transpile(text, everything=True) == (
        f"import os\nimport autograph.runtime as ag\n\n\n@ag.converted\n{F_NEW}\n\n"
        "class A:\n    @ag.converted\n    def g(self, x):\n        return ag.cond(x > 0, lambda: 1, lambda: 2)\n\n"
        "    class B:\n        @ag.converted\n        def h(self):\n            return ag.cond(os, lambda: 1, lambda: 2)\n"
    )


def test_functions_without_a_staged_form_stay() -> None:
    text = (
        "import autograph as ag\n\n\n@ag.convert\ndef f(x):\n    y = 3 + (yield 1 if x > 0 else 2)\n\n\n"
        "@ag.convert\nasync def g(x):\n    return 1 if x > 0 else 2\n\n\n@ag.convert\ndef h(x):\n    return locals() if x > 0 else 2\n"
    )
    assert transpile(text) == text
    assert transpile(text, everything=True) == text


def test_functions_by_qualified_name() -> None:
    text = "def f():\n    def inner(): pass\nclass A:\n    def g(self): pass\n    class B:\n        def h(self): pass\nif f:\n    def i(): pass\n"
    assert [name for name, _ in functions(ast.parse(text))] == ["f", "A.g", "A.B.h", "i"]


@pytest.mark.parametrize("text", ["def f(:\n", "x = 1\n  y = 2\n", "x = 1\0\n"])
def test_a_file_that_does_not_parse(text: str) -> None:
    with pytest.raises(SourceUnavailable, match="AG101") as caught:
        transpile(text, "name.py")
    assert caught.value.place is not None and caught.value.place.file == "name.py"


def test_functions_of_one_name() -> None:
    text = f"import sys\nimport autograph as ag\n\nif sys.path:\n    @ag.convert\n{textwrap.indent(F, '    ')}else:\n    @ag.convert\n{textwrap.indent(F, '    ')}"
    new = transpile(text)
    assert new.count("    @ag.converted\n    def f") == 2 and new.count("ag.cond") == 2


def test_a_property_and_its_setter() -> None:
    text = (
        "class A:\n    @property\n    def v(self):\n        return 1 if self.x > 0 else 2\n\n"
        "    @v.setter\n    def v(self, x):\n        self.x = x if x > 0 else 0\n"
    )
    assert transpile(text, everything=True).count("ag.cond") == 2


def test_do_not_convert_is_kept() -> None:
    text = f"import autograph as ag\n\n\n@ag.do_not_convert\n{F}\n\n@ag.convert\ndef g(x):\n    return f(x)\n"
    assert F in transpile(text, everything=True)


# What stays of a function that is converted


def test_comments_header_annotations_and_docstring_stay() -> None:
    text = textwrap.dedent('''\
        import autograph as ag

        # before the decorator
        @ag.function  # behind the decorator
        # under the decorator
        @ag.convert
        # before the function
        def f( x : "int",   # the number
               *, y = [ 1,2 ],
             ) -> "int" :  # behind the header
            # before the docstring
            """A   docstring.

              laid out by hand  """  # behind the docstring
            # before the body
            if x > 0:  # inside
                return 1
            return -1  # at the end
            # after the body

        # between
        z=1
        ''')
    new = transpile(text)
    want = text.replace("import autograph as ag", "import autograph.runtime as ag").replace("@ag.function", "@ag.jit").replace("@ag.convert\n", "")
    old_body = want[want.index("    if x > 0") : want.index("    # after the body")]
    assert new == want.replace(old_body, NEW)
    f = runs(new)["f"]
    assert f(3) == 1 and f(-3) == -1 and f.__doc__.startswith("A   docstring.")


def test_a_body_on_the_line_of_its_header() -> None:
    head = "import autograph as ag\n\n\n@ag.convert\n"
    got = "import autograph.runtime as ag\n\n\n@ag.converted\ndef f(x):\n"
    assert transpile(head + "def f(x): return 1 if x > 0 else -1\n") == got + NEW
    assert transpile(head + "def f(x): y = 1; return y if x > 0 else -1\n") == got + "    y = 1\n" + NEW.replace("lambda: 1", "lambda: y")
    assert transpile(head + 'def f(x): "doc"; return 1 if x > 0 else -1\n') == got + '    """doc"""\n' + NEW
    assert transpile(head + 'def f(x):\n    "doc"; return 1 if x > 0 else -1\n') == got + '    """doc"""\n' + NEW


@pytest.mark.parametrize("header", ["def f(x): \\\n    ", "def f(\n    x,\n): "])
def test_a_body_on_the_last_line_of_a_broken_header(header: str) -> None:
    new = transpile(f"import autograph as ag\n\n\n@ag.convert\n{header}return 1 if x > 0 else -1\n")
    assert runs(new)["f"](5) == 1 and "ag.cond(x > 0, lambda: 1, lambda: -1)" in new


def test_a_function_that_needs_no_change_keeps_its_text() -> None:
    text = "import autograph as ag\n\n\n@ag.convert\ndef f( x ):\n    return   x+1 # as it was\n"
    assert transpile(text) == "import autograph.runtime as ag\n\n\n@ag.converted\ndef f( x ):\n    return   x+1 # as it was\n"


def test_the_last_line_without_an_end() -> None:
    assert transpile(f"import autograph as ag\n@ag.convert\n{F}".rstrip("\n")) == f"import autograph.runtime as ag\n@ag.converted\n{F_NEW}"


def test_characters_of_several_bytes() -> None:
    text = f"import autograph as ag; ü = 'äöü'  # é\n\n\n@ag.function(inline=bool('é'))  # ä\n{F.replace('-1', chr(0x27) + 'é' + chr(0x27))}\n\nß = 'ß'\n"
    want = text.replace("autograph as", "autograph.runtime as").replace("ag.function", "ag.jit")
    assert transpile(text) == want.replace(BODY.replace("-1", "'é'"), NEW.replace("-1", "'é'"))


SEPARATORS = {"form feed": "\x0c", "vertical tab": "\x0b", "line separator": "\u2028", "next line": "\x85", "file separator": "\x1c"}


@pytest.mark.parametrize("separator", SEPARATORS.values(), ids=SEPARATORS)
def test_separators_that_do_not_end_a_line(separator: str) -> None:
    text = f"import autograph as ag\n# {separator} see above\n\n\n@ag.convert\n{F}\n\ny = 1\n"
    assert transpile(text) == f"import autograph.runtime as ag\n# {separator} see above\n\n\n@ag.converted\n{F_NEW}\n\ny = 1\n"


@pytest.mark.parametrize("where", ["module", "class"])
def test_tabs(where: str) -> None:
    text = "@ag.convert\ndef f(x):\n\t'''Doc.'''\n\tif x > 0:\n\t\treturn 1\n\treturn -1\n"
    text = text if where == "module" else "class A:\n" + textwrap.indent(text.replace("f(x)", "f(self, x)"), "\t")
    space = runs(transpile("import autograph as ag\n\n\n" + text))
    assert (space["f"] if where == "module" else space["A"]().f)(3) == 1


def test_line_endings() -> None:
    text = f"import autograph as ag\n\n\n@ag.convert\n{F}\n\ny = 1\n"
    assert transpile(text.replace("\n", "\r\n")) == f"import autograph.runtime as ag\n\n\n@ag.converted\n{F_NEW}\n\ny = 1\n".replace("\n", "\r\n")


@pytest.mark.parametrize("kind", ["def", "class"])
def test_a_body_that_begins_with_a_decorator(kind: str) -> None:
    inner = "def g(y):\n        return 1 if y > 0 else 2\n" if kind == "def" else "class g(int):\n        pass\n"
    new = transpile(f"import autograph as ag\n\n\n@ag.convert\ndef f(x):\n    @note\n    {inner}    return g(1) if x > 0 else 2\n")
    seen: list[Any] = []

    def note(g: Any) -> Any:
        seen.append(g)
        return g

    assert runs(new, note=note)["f"](3) == 1 and len(seen) == 1


# Decorators and imports


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import autograph as ag\n\n\n@ag.function\n", "import autograph.runtime as ag\n\n\n@ag.jit\n"),
        ("import autograph as ag\n\n\n@ag.convert\n", "import autograph.runtime as ag\n\n\n@ag.converted\n"),
        ("import autograph as ag\n\n\n@ag.convert()\n", "import autograph.runtime as ag\n\n\n@ag.converted\n"),
        ("import autograph as ag\n\n\n@ag.convert(\n    form='staged',\n)\n", "import autograph.runtime as ag\n\n\n@ag.converted\n"),
        ("import autograph as ag\n\n\n@ag.function()\n", "import autograph.runtime as ag\n\n\n@ag.jit()\n"),
        (
            "import autograph as ag  # ours\n\n\n@ag.function(\n    inline=True,  # so\n)\n",
            "import autograph.runtime as ag  # ours\n\n\n@ag.jit(\n    inline=True,  # so\n)\n",
        ),
        ("import autograph as ag\n\n\n@ag.function\n@ag.convert\n", "import autograph.runtime as ag\n\n\n@ag.jit\n"),
        ("from autograph import function\n\n\n@function\n", "import autograph.runtime as ag\n\n\n@ag.jit\n"),
        ("from autograph import function as fast\n\n\n@fast(inline=True)\n", "import autograph.runtime as ag\n\n\n@ag.jit(inline=True)\n"),
        ("from autograph import convert\n\n\n@convert\n", "import autograph.runtime as ag\n\n\n@ag.converted\n"),
        ("from autograph import (\n    convert,\n    function,\n)\n\n\n@convert\n", "import autograph.runtime as ag\n\n\n@ag.converted\n"),
        ("import autograph\n\n\n@autograph.function\n", "import autograph.runtime as ag\n\n\n@ag.jit\n"),
        ("import autograph\n\n\n@autograph.convert\n", "import autograph.runtime as ag\n\n\n@ag.converted\n"),
        ("import autograph as graph\n\n\n@graph.function\n", "import autograph.runtime as ag\n\n\n@ag.jit\n"),
        (
            "import autograph as ag\nimport functools\n\n\n@functools.partial(ag.function, inline=True)\n",
            "import autograph.runtime as ag\nimport functools\n\n\n@functools.partial(ag.jit, inline=True)\n",
        ),
        (
            "from functools import partial\nfrom autograph import function\n\n\n@partial(function, inline=True)\n",
            "from functools import partial\nimport autograph.runtime as ag\n\n\n@partial(ag.jit, inline=True)\n",
        ),
        (
            "from functools import partial\nimport autograph as ag\n\n\n@partial(ag.convert, form='staged')\n",
            "from functools import partial\nimport autograph.runtime as ag\n\n\n@ag.converted\n",
        ),
        ("import autograph as ag, os\n\n\n@ag.convert\n", "import os\nimport autograph.runtime as ag\n\n\n@ag.converted\n"),
        (
            "import autograph as ag\nfrom jax import jit\n\n\n@jit\n@ag.convert  # not this\n",
            "import autograph.runtime as ag\nfrom jax import jit\n\n\n@jit\n@ag.converted  # not this\n",
        ),
    ],
)
def test_decorators_and_imports(before: str, after: str) -> None:
    new = transpile(before + F)
    assert new == after + F_NEW
    assert runs(new)["f"](3) == 1
    assert transpile(new) == new


def test_both_decorators_and_imports() -> None:
    imports = "from autograph import convert\nfrom autograph import function\nimport autograph\nimport autograph as ag\n"
    text = f"{imports}\n\n@convert\n@function\n{F}\n\n@autograph.convert\n@ag.function\n{F.replace('def f', 'def g')}"
    new = transpile(text)
    assert set(new.splitlines()[: new.splitlines().index("")]) == {"import autograph.runtime as ag"}
    assert new.endswith(f"\n\n@ag.jit\n{F_NEW}\n\n@ag.jit\n{F_NEW.replace('def f', 'def g')}")
    assert int(runs(new)["g"](3)) == 1


def test_methods() -> None:
    text = textwrap.dedent("""\
        import autograph as ag


        class A:
            scale = 2

            @ag.function
            def low(self, x):
                return 1 if x > 0 else 2

            @staticmethod
            @ag.convert
            def middle(x):
                return 1 if x > 0 else 2

            @classmethod
            @ag.convert
            def high(cls, x):
                return cls.scale if x > 0 else 2

            @property
            @ag.convert
            def size(self):
                return 1 if self.scale > 0 else 2

            def untouched(self, x):
                return 1 if x > 0 else 2
        """)
    new = transpile(text)
    assert new.count("ag.cond(") == 4 and new.endswith("    def untouched(self, x):\n        return 1 if x > 0 else 2\n")
    assert new.count("@ag.jit") == 1 and new.count("@ag.converted\n    def ") == 3
    a = runs(new)["A"]()
    assert (int(a.low(1)), a.middle(1), a.high(1), a.size) == (1, 1, 2, 1)


@pytest.mark.parametrize(
    ("taken", "alias"),
    [
        ("ag = 3\n", "ag_"),
        ("def ag(): pass\n", "ag_"),
        ("class ag: pass\n", "ag_"),
        ("import os as ag\n", "ag_"),
        ("def other(ag): return ag\n", "ag_"),
        ("print([ag for ag in ()])\n", "ag_"),
        ("ag = ag_ = 3\n", "ag__"),
        ("ag = ag_ = ag__ = 3\n", "autograph_runtime"),
    ],
)
def test_a_file_that_uses_the_name_of_the_runtime(taken: str, alias: str) -> None:
    new = transpile(f"from autograph import function\n{taken}\n\n@function\n{F}")
    assert new == f"import autograph.runtime as {alias}\n{taken}\n\n@{alias}.jit\n{F_NEW.replace('ag.', alias + '.')}"
    assert int(runs(new)["f"](-3)) == -1


def test_a_parameter_of_the_name_that_the_file_imports() -> None:
    text = "import autograph as ag\n\n\n@ag.function\ndef f(x, ag=2):\n    return x * ag if x > 0 else 0\n"
    new = transpile(text)
    assert "return ag_.cond(x > 0, lambda: x * ag, lambda: 0)" in new
    assert int(runs(new)["f"](3)) == 6


@pytest.mark.parametrize(
    "taken",
    [
        "    try:\n        1 / 0\n    except ZeroDivisionError as ag:\n        pass\n",
        "    match [x]:\n        case [ag]:\n            pass\n",
        "    match {}:\n        case {**ag}:\n            pass\n",
        "    match [x]:\n        case [*ag]:\n            pass\n",
    ],
    ids=["except", "match", "match mapping", "match star"],
)
def test_other_ways_to_use_the_name_of_the_runtime(taken: str) -> None:
    new = transpile(f"import autograph\n\n\n@autograph.convert\ndef f(x):\n{taken}{BODY}")
    assert runs(new)["f"](3) == 1


def test_what_else_is_used_of_the_package_stays_imported() -> None:
    kept = f"import autograph as ag\n\n\n@ag.convert\n{F}\n\nprint(ag.to_code(f))\n"
    assert transpile(kept) == kept.replace("@ag.convert\n", "@ag.converted\n").replace(BODY, NEW)
    kept = f"import autograph\n\n\n@autograph.convert\n{F}\n\nprint(autograph.__version__)\n"
    want = f"import autograph\nimport autograph.runtime as ag\n\n\n@ag.converted\n{F_NEW}\n\nprint(autograph.__version__)\n"
    assert transpile(kept) == want
    kept = f"from autograph import convert, to_code\n\n\n@convert\n{F}\n\nprint(to_code(f))\n"
    want = f"from autograph import to_code\nimport autograph.runtime as ag\n\n\n@ag.converted\n{F_NEW}\n\nprint(to_code(f))\n"
    assert transpile(kept) == want


def test_names_of_the_runtime_need_the_runtime_only() -> None:
    text = f"import autograph as ag\n\n\n@ag.convert\n{F}\n\nERRORS = (ag.AutographError, ag.StagingError)\n"
    assert transpile(text).startswith("import autograph.runtime as ag\n")
    assert len(runs(transpile(text))["ERRORS"]) == 2


@pytest.mark.parametrize("before", ["from autograph.api import function\n\n\n@function\n", "import autograph.api as api\n\n\n@api.function\n"])
def test_decorators_from_the_module_that_defines_them(before: str) -> None:
    assert transpile(before + F) == f"import autograph.runtime as ag\n\n\n@ag.jit\n{F_NEW}"


def test_a_statement_behind_an_import() -> None:
    new = transpile(f"import autograph as ag\nfrom autograph import function; y = 1\n\n\n@function\n{F}")
    assert runs(new)["y"] == 1


def test_an_import_at_the_end_of_a_file() -> None:
    new = transpile(f"from autograph import StagingError, function\n\n\n@function\n{F}\n\nERROR = StagingError\nimport sys\n")
    assert int(runs(new)["f"](3)) == 1


def test_an_import_as_the_last_line() -> None:
    new = runs(transpile(f"{F}\nimport os", everything=True))
    assert new["os"].__name__ == "os" and int(new["f"](3)) == 1


def test_future_imports_stay_first() -> None:
    text = f'"""Doc."""\n\nfrom __future__ import annotations\n\n{F}'
    new = transpile(text, everything=True)
    assert new == f'"""Doc."""\n\nfrom __future__ import annotations\nimport autograph.runtime as ag\n\n@ag.converted\n{F_NEW}'
    assert runs(new)["f"](3) == 1
    text = f'"""Doc."""\nfrom __future__ import annotations\nfrom autograph import convert\n\n\n@convert\n{F.replace("(x)", "(x: Missing)")}'
    assert transpile(text).startswith(
        '"""Doc."""\nfrom __future__ import annotations\nimport autograph.runtime as ag\n\n\n@ag.converted\ndef f(x: Missing):\n'
    )
    assert runs(transpile(text))["f"](3) == 1


def test_a_file_without_imports() -> None:
    assert transpile(F, everything=True) == f"import autograph.runtime as ag\n\n\n@ag.converted\n{F_NEW}"
    new = transpile(f'"""Doc."""\n\nx = 1\n\n\n{F}', everything=True)
    assert new == f'"""Doc."""\nimport autograph.runtime as ag\n\nx = 1\n\n\n@ag.converted\n{F_NEW}'
    assert runs(new)["__doc__"] == "Doc."


@pytest.mark.parametrize(
    "first", ["#!/usr/bin/env python\n", "# coding: latin-1\n", "#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n# Licence.\n"]
)
def test_comments_that_must_stand_first(first: str) -> None:
    new = transpile(f"{first}\n\n{F}", everything=True)
    assert new.startswith(first) and "import autograph.runtime as ag\n" in new


# Stability and agreement


@pytest.mark.parametrize("everything", [False, True], ids=["decorated", "all"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_transpiling_twice_changes_nothing(path: Path, everything: bool) -> None:
    text = path.read_text(encoding="utf-8")
    new = transpile(text, path.name, everything)
    assert new != text
    assert transpile(new, path.name) == new and transpile(new, path.name, everything=True) == new


@pytest.mark.parametrize(
    "text", ["import autograph as ag, os\n@ag.convert\n" + F, f"import autograph as ag\n@ag.convert\n{F}\nprint(ag.to_code(f))\n"]
)
def test_converting_everything_twice(text: str) -> None:
    new = transpile(text)
    assert transpile(new, everything=True) == new


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_only_converted_functions_and_imports_change(path: Path) -> None:
    old = path.read_text(encoding="utf-8")
    new = transpile(old, path.name)
    tree = ast.parse(old)
    allowed = {n.lineno for n in tree.body if isinstance(n, ast.Import) and n.names[0].name == "autograph"}
    called = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    for node in (n for n in tree.body if isinstance(n, ast.FunctionDef)):
        marked = [d for d in node.decorator_list if "ag." in ast.unparse(d)]
        allowed |= {d.lineno for d in marked}
        if marked or (node.name in called and not node.decorator_list):
            documented = ast.get_docstring(node) is not None
            allowed |= set(range(node.body[documented].lineno, (node.end_lineno or 0) + 1))
    allowed |= {k for n in tree.body if isinstance(n, ast.ClassDef) for k in range(n.lineno, (n.end_lineno or 0) + 1)}
    assert touched(old, new) and touched(old, new) <= allowed
    main_of = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "main")
    assert (ast.get_source_segment(old, main_of) or "nothing") in new
    for kind in (ast.FunctionDef, ast.ClassDef):
        assert [n.name for n in tree.body if isinstance(n, kind)] == [n.name for n in ast.parse(new).body if isinstance(n, kind)]


LOOP = '''\
def f(x, n: "int" = 3):
    """A loop."""
    total = 0
    for i in range(n):
        if x[i] < 0:
            break
        while total < x[i]:
            total += helper(i)
    else:
        return total
    return -total if n > 3 and x[0] else None
'''


def body(text: str) -> list[str]:
    """The statements of the function `f` of a text, printed."""
    (f,) = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == "f")
    lines = text.splitlines()[f.body[0].lineno - 1 : f.end_lineno]
    return textwrap.dedent("\n".join(lines)).splitlines()


@pytest.mark.parametrize("text", [F, LOOP], ids=["branch", "loop"])
def test_the_same_text_as_to_code_and_show(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = f"import autograph as ag\n\n\n@ag.convert\n{text}"
    (tmp_path / "program.py").write_text(program)
    new = transpile(program)
    assert main(["show", f"{tmp_path / 'program.py'}:f"]) == 0
    shown = capsys.readouterr().out
    assert "ag.cond" in shown
    assert body(new) == body(shown) == body(ag.to_code(define(program)))
    assert new.endswith(shown if text == F else "\n".join(shown.splitlines()[1:]) + "\n")


def test_the_text_of_a_method() -> None:
    text = textwrap.indent(LOOP, "    ")
    new = transpile(f"import autograph as ag\n\n\nclass A:\n    @ag.convert\n{text}")
    assert body(new) == body(ag.to_code(define(LOOP)))


# Without the transpiler


BLOCKED = """
import runpy, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("gast", "astunparse") or (name.startswith("autograph.") and not name.startswith("autograph.runtime")):
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Block())
runpy.run_path(sys.argv[1], run_name="__main__")
print(*sorted(m for m in sys.modules if m.split(".")[0] in ("autograph", "gast", "astunparse") and not m.startswith("autograph.runtime")), file=sys.stderr)
"""


HANDED_OVER = {"metropolis"}  # functions that are given as values to what calls them are converted by `--all` only


def without_the_transpiler(path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    return subprocess.run([sys.executable, "-c", BLOCKED, str(path)], capture_output=True, text=True, cwd=ROOT, env=environment)


def test_the_transpiler_is_blocked(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(f"import autograph as ag\n\n\n@ag.convert\n{F}")
    done = without_the_transpiler(tmp_path / "program.py")
    assert done.returncode == 1 and "ImportError: blocked: autograph.api" in done.stderr


def test_a_function_that_is_handed_over_is_not_converted(tmp_path: Path) -> None:
    """It is not called by its name, so the converted file names what is missing."""
    text = f"import autograph as ag\n\n\n{F}\n\n@ag.function(static_argnames='g')\ndef start(g, x):\n    return g(x) if x > 1 else 0\n\n\nprint(start(f, 3))\n"
    for everything in (False, True):
        (tmp_path / "program.py").write_text(transpile(text, "program.py", everything))
        done = without_the_transpiler(tmp_path / "program.py")
        assert (done.returncode, done.stdout) == ((0, "1\n") if everything else (1, "")), done.stderr
        assert everything or ("AG501" in done.stderr and "`f`" in done.stderr)


@pytest.mark.parametrize("path", [p for p in EXAMPLES if p.stem not in TRAINING], ids=lambda p: p.stem)
def test_examples_run_without_the_transpiler(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The converted file, alone in another folder, prints what the original prints."""
    runpy.run_path(str(path), run_name="__main__")
    want = capsys.readouterr().out
    new = transpile(path.read_text(encoding="utf-8"), path.name, everything=path.stem in HANDED_OVER)
    (tmp_path / path.name).write_text(new, encoding="utf-8")
    done = without_the_transpiler(tmp_path / path.name)
    assert want and (done.returncode, done.stdout) == (0, want), done.stderr
    assert done.stderr == "autograph\n"


HANDED = """
import jax, jax.numpy as jnp
import autograph as ag
{}
def f(a):
    c = a + 0
    d = c
    d[1] += 1
    return c

class Box:
    {}
    def low(self, a):
        c = a * 1
        self.seen = c
        c[0] = 5
        return self.seen

print({}(jnp.zeros(3)), {})
"""


@pytest.mark.parametrize(
    ("above", "method", "call", "everything"),
    [
        ("@jax.jit\n@ag.convert", "@ag.convert", "f", False),
        ("@ag.convert", "@ag.convert", "jax.jit(f)", False),
        ("", "", "jax.jit(f)", True),
        ("", "", "jax.jit(lambda x: f(x))", True),
        ("@jax.jit", "", "f", True),
    ],
    ids=["below", "handed over", "every function", "in a lambda", "every function, below"],
)
def test_arrays_are_objects_in_what_is_handed_to_jax(above: str, method: str, call: str, everything: bool, tmp_path: Path) -> None:
    """A store through a second name is seen, in a function that code which stays Python hands to JAX."""
    new = transpile(HANDED.format(above, method, call, "jax.jit(Box().low)(jnp.zeros(2))"), everything=everything)
    assert new.count("@ag.converted") == 2
    (tmp_path / "program.py").write_text(new, encoding="utf-8")
    done = without_the_transpiler(tmp_path / "program.py")
    assert (done.returncode, done.stdout) == (0, "[0. 1. 0.] [5. 0.]\n"), done.stderr

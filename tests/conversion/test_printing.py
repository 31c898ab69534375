"""What is printed reads as it was written, and means the same."""

from __future__ import annotations

import ast
import importlib.util
import sys
import warnings
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from autograph.printing import printing

since_312 = pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
since_313 = pytest.mark.skipif(sys.version_info < (3, 13), reason="syntax of Python 3.13")
before_312 = pytest.mark.skipif(sys.version_info >= (3, 12), reason="3.12 has no such restriction")


def campaign() -> ModuleType:
    """The comparisons of the full run over the standard library."""
    path = Path(__file__).parents[1] / "campaigns" / "printing.py"
    spec = importlib.util.spec_from_file_location("printing_campaign", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXPRESSIONS = [
    # Parentheses
    "a + b + c",
    "a + (b + c)",
    "a - (b - c) - d",
    "(a + b) * c",
    "a + b * c",
    "a * (b / c) % d // e @ f",
    "a << b >> (c << d)",
    "a | b ^ c & d",
    "(a | b) & c",
    "a ** b ** c",
    "(a ** b) ** c",
    "-a ** -b",
    "(-a) ** b",
    "(-1) ** 2",
    "2 ** -1",
    "--a + ~-b",
    "-(a + b)",
    "not a == b",
    "(not a) == b",
    "not (a and b)",
    "not not a",
    "-(not a)",
    "a or b and c",
    "(a or b) and c",
    "a or (b or c)",
    "a < b <= c != d is not e not in f",
    "a < (b < c)",
    "(a < b) < c",
    "a == b | c",
    "(a == b) | c",
    "a if b else c if d else e",
    "(a if b else c) if d else e",
    "a if (b if c else d) else e",
    "a or (b if c else d)",
    "(lambda: a) if b else lambda: c",
    "(lambda: a)()",
    "lambda: lambda: a",
    "lambda: (yield)",
    "lambda a, /, b=1, *c, d, e=(1, 2), **f: (a, b)",
    "lambda *, a: a",
    "(yield) + 1",
    "[(yield a), (yield from b)]",
    "[(a := 1), b]",
    "f(a := 1, b=(c := 2))",
    "await a ** b",
    "await (a ** b)",
    "(await a)(b)",
    "await a.b(c)",
    "-await a",
    "(a + b).c",
    "(a, b)[0]",
    "(1).real",
    "1.5.real",
    "1j.imag",
    "'a'.join(b)",
    "(-1).real",
    # Calls, subscripts and displays
    "f(a, *b, c, d=1, **e)",
    "f(*(a or b), **c or d)",
    "f(x for x in y)",
    "f((x for x in y), z)",
    "f((x for x in y), key=z)",
    "f((a, b))",
    "f((yield))",
    "a[b]",
    "a[b, c]",
    "a[b:c, ::d, :e]",
    "a[:]",
    "a[b,]",
    "a[()]",
    "a[b:c,]",
    "a[*b]",
    "a[*b, c]",
    "a[(b, c), d]",
    "a[b if c else d:lambda: e]",
    "[]",
    "()",
    "{}",
    "(a,)",
    "[a, *b]",
    "[*(a or b)]",
    "{a, *b}",
    "{a: b, **c, **(d or e)}",
    "{(a, b): (c, d)}",
    "[a for b, c in d if e if f for g in h]",
    "[a for a in (b if c else d) if (e if f else g)]",
    "[a for a in (lambda: b) if (c := d)]",
    "{a async for a in b}",
    "{a: b for a, b in c}",
    "[(a, b) for a in b]",
    # Constants
    "None",
    "...",
    "True",
    "1000",
    "1e309",
    "-1e309j",
    '"it\'s"',
    "'\"it\\'s\"'",
    "'\\n\\t\\\\\\x00\\ud800é'",
    "b'\\xff\"'",
    "u'a'",
]

FSTRINGS = [
    "f''",
    "f'a{b}c'",
    "f'{{{a}}}'",
    "f'{a!r}{b!s}{c!a}'",
    "f'{a:>10}{b!r:{c}.{d}}'",
    "f'{a:}'",
    'f"it\'s {a}"',
    "f'say \"{a}\"'",
    "f\"{a['b']}\"",
    "f\"{a['b']} 'c' {d['e']}\"",
    'f"""{a["it\'s"]}"""',
    "f\"{f'{a}'}\"",
    "f'{a}\\n\\t\\\\{b}'",
    "f'\\\\N{{a}}'",
    "f'{ {1: 2}[1]}'",
    "f'{ {a for a in b}}'",
    "f'{(a, b)}{(yield)}'",
    "f'{(lambda: 1)()}{(a := 1)}'",
    "f'{(a if b else lambda: c)}'",
    "f'{a if b else c}'",
    "f'{a != b}{a == b}'",
    "f'{a[1:2]}'",
    "f'{a:\\x7b\\x7d}'",
    "f'{a!r:{b}>{c}}'",
    "f'{-a}{not b}{await c}'",
    "f'é\\x00'",
]

FSTRINGS_SINCE_312 = [
    "f\"{'\\n'.join(a)}\"",
    "f\"{a['\\\\']}\"",
    'f"""{a[\'b\'][f"{c[\'\\n\']}"]}"""',
]

STATEMENTS = [
    "pass",
    "import a, b.c as d",
    "from a import b as c, d",
    "from .. import a",
    "from .a import *",
    "a = b = c",
    "a, b = c",
    "a, *b = c, *d",
    "(a,) = b",
    "(a, b), c = d",
    "[a, b] = c",
    "a.b, c[d] = e",
    "a = yield",
    "a = yield b, c",
    "a = yield from b",
    "a = await b",
    "a = (b := c)",
    "a += yield b",
    "a @= b, c",
    "a **= b",
    "a: int",
    "a: int = 1, 2",
    "(a): int = 1",
    "a.b: c[d, e] = yield",
    "yield",
    "yield a, *b",
    "yield from a",
    "a, b",
    "(a := b)",
    "await a",
    "del a, b[c], d.e",
    "del (a, b), c",
    "assert a, b",
    "assert (a, b)",
    "raise",
    "raise a from b",
    "return",
    "return a, *b",
    "return (a,)",
    "return (yield)",
    "global a, b",
    "nonlocal a",
    "break",
    "continue",
    "for a, b in c, d:\n    pass\nelse:\n    pass",
    "async for a in await b:\n    pass",
    "for a in *b, c:\n    pass",
    "while a := b:\n    pass\nelse:\n    pass",
    "if a:\n    pass\nelif b := c:\n    pass\nelif d:\n    pass\nelse:\n    pass",
    "if a:\n    pass\nelse:\n    if b:\n        pass\n    c",
    "if (a, b):\n    pass",
    "if (a := b) > 1:\n    pass",
    "with a, b as c, d as (e, f):\n    pass",
    "with ((a, b)):\n    pass",
    "with (a, b) as c:\n    pass",
    "with (a, b), c:\n    pass",
    "with (yield):\n    pass",
    "async with a as b.c:\n    pass",
    "try:\n    pass\nexcept a as b:\n    pass\nexcept (c, d):\n    pass\nexcept:\n    pass",
    "try:\n    pass\nexcept a:\n    pass\nelse:\n    pass\nfinally:\n    pass",
    "try:\n    pass\nfinally:\n    pass",
    "try:\n    try:\n        pass\n    except a:\n        pass\nexcept* (b, c) as d:\n    pass",
    "match a, *b:\n    case _:\n        pass",
    "match (a := b):\n    case c if d := e:\n        pass",
    "def f():\n    pass",
    "async def f(a, b=1, /, c: int = 2, *d: *e, f, g='h', **i: j) -> (k, l):\n    return a",
    "def f(a, /):\n    pass",
    "def f(*, a: int, b=lambda: 0):\n    pass",
    "class A:\n    pass",
    "class A(B, *C, metaclass=D, **E):\n    pass",
    "class A((a for a in b)):\n    pass",
    "@a\n@b.c(d)\n@lambda f: f\nasync def f():\n    pass",
    "@(a, b)[0]\nclass A:\n    pass",
]

PATTERNS = [
    "_",
    "a",
    "None",
    "-1",
    "1 + 2j",
    "'a'",
    "a.b",
    "[]",
    "[a, *_, b]",
    "[*a]",
    "{}",
    "{1: a, b.c: [d], **e}",
    "{**a}",
    "A()",
    "a.B(c, 1, d=1 as e, f=2 | 3)",
    "1 | 2 | None",
    "[1 | 2 as a, b]",
    "(1 as a) | 2",
    "[[a] as b] as c",
    "1 | 2 as a",
]

TYPE_PARAMETERS = [
    "type A = int",
    "type A[T, *Ts, **P] = Callable[P, tuple[T, *Ts]]",
    "def f[T: int](a: T) -> T:\n    pass",
    "async def f[T: (int, str)]():\n    pass",
    "class A[T](B[T]):\n    pass",
    "class A[*Ts]:\n    pass",
]

DEFAULTED_TYPE_PARAMETERS = ["type A[T: int = bool, *Ts = *tuple[int], **P = [int, str]] = T"]

LAYOUTS = {
    "modules": '''\
        """Module.

        More.
        """

        import a


        def f():
            pass


        class A:
            pass


        b = f()
    ''',
    "nested definitions": """\
        def f(a):
            def g():
                pass
            return g
    """,
    "definitions after statements": """\
        def f(a):
            b = a

            def g():
                pass
            c = h(g)

            @d
            class A:
                e = 1

                def __init__(self):
                    pass
                e = property(e)
            if a:
                def i():
                    pass

                async def j():
                    pass
            return i, j
    """,
    "docstrings": '''\
        def f():
            """One line, it's "quoted"."""


        async def g():
            """Summary.

            Details.
            """
            pass


        class A:
            r"""A \\d raw one."""


        class B:
            """Ends in a \\\\"""


        class C:
            """He said \\"\\"\\"so\\"\\"\\" \\""""


        class D:
            """Blank at the end \\x20
            and\\x00."""


        class E:
            'Not the docstring' + ''


        class F:
            1
            'Neither is this'
    ''',
    "calls on one more line": """\
        def f():
            first_name = some_module.some_function(argument_number_one, argument_number_two, arg=1)
            first_name = some_module.some_function(
                argument_number_one, argument_number_two, argument_number_three=argument_three
            )
            return await some_module.some_function(
                argument_number_one, argument_number_two, argument_number_three=argument_three
            )
    """,
    "calls with a line per argument": """\
        def f():
            some_module.some_function(
                argument_number_one,
                *argument_number_two,
                argument_number_three=argument_number_three(argument_number_four, argument_five),
                **argument_number_six,
            )
            x += some_module.some_function(
                argument_number_one(a, b) for argument_number_one in argument_number_two if argument_three
            )
    """,
    "long definitions": """\
        def some_function(
            parameter_number_one, parameter_number_two, *parameter_number_three, **parameter_four
        ):
            pass


        async def some_function(
            parameter_number_one: int,
            parameter_number_two: dict[str, int] = None,
            /,
            parameter_number_three=3,
            *,
            parameter_number_four,
        ) -> tuple[int, ...]:
            pass
    """,
}


def cases(texts: list[str], mark: pytest.MarkDecorator | None = None) -> list[object]:
    marks = () if mark is None else (mark,)
    return [pytest.param(text, id=text.replace("\n", " "), marks=marks) for text in texts]


@pytest.mark.parametrize("text", cases(EXPRESSIONS + FSTRINGS) + cases(FSTRINGS_SINCE_312, since_312))
def test_expression(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, mode="eval")
    assert printing.unparse(tree.body) == (text, {})


@pytest.mark.parametrize(
    "text",
    cases(STATEMENTS)
    + cases([f"match a:\n    case {pattern}:\n        pass" for pattern in PATTERNS])
    + cases(TYPE_PARAMETERS, since_312)
    + cases(DEFAULTED_TYPE_PARAMETERS, since_313),
)
def test_statement(text: str) -> None:
    tree = ast.parse(text)
    assert printing.source(tree) == text + "\n"
    assert printing.source(tree.body) == text + "\n"
    assert printing.source(tree.body[0]) == text + "\n"


@pytest.mark.parametrize("text", [pytest.param(dedent(text), id=name) for name, text in LAYOUTS.items()])
def test_layout(text: str) -> None:
    tree = ast.parse(text)
    printed = printing.source(tree)
    assert printed == text
    assert ast.dump(ast.parse(printed)) == ast.dump(tree)
    assert not any(line != line.rstrip() for line in printed.splitlines())


@pytest.mark.parametrize("value", ["", "\n", "a\r\nb", '"', '"""', "\\", 'a\\"""', "\t\n \n", "\x0c é \ud800", "\\ "])
def test_docstring_keeps_its_value(value: str) -> None:
    tree = ast.Module([ast.Expr(ast.Constant(value))], [])
    printed = printing.source(tree)
    assert ast.dump(ast.parse(printed)) == ast.dump(tree)
    assert not any(line != line.rstrip() for line in printed.split("\n"))


def test_indentation() -> None:
    body = ast.parse("if a:\n    def f():\n        pass\n    b = f\ndef g():\n    pass\nreturn b").body
    assert printing.source(body, indent=8) == (
        "        if a:\n            def f():\n                pass\n            b = f\n\n        def g():\n            pass\n        return b\n"
    )


@pytest.mark.parametrize("text", ["a + 1", "(a, b)"])
def test_expression_tree_has_no_newline(text: str) -> None:
    assert printing.source(ast.parse(text, mode="eval"), indent=4) == text


def test_empty_block_of_statements() -> None:
    assert printing.unparse([]) == ("", {})


def test_lines() -> None:
    text = dedent('''\
        """Doc
        string."""
        @a
        @b
        def f(): pass
        try: x = 1
        except E: y
        else:
            z
        if c: pass

        elif d: pass
        match m:
            case 1: pass
        some_module.some_function(argument_number_one, argument_number_two, argument_number_three=argument_3)
    ''')
    printed = printing.unparse(ast.parse(text))
    assert [(printed.lines.get(row), line) for row, line in enumerate(printed.text.splitlines(), 1)] == [
        (1, '"""Doc'),
        (1, 'string."""'),
        (None, ""),
        (None, ""),
        (3, "@a"),
        (4, "@b"),
        (5, "def f():"),
        (5, "    pass"),
        (None, ""),
        (None, ""),
        (6, "try:"),
        (6, "    x = 1"),
        (7, "except E:"),
        (7, "    y"),
        (None, "else:"),
        (9, "    z"),
        (10, "if c:"),
        (10, "    pass"),
        (12, "elif d:"),
        (12, "    pass"),
        (13, "match m:"),
        (14, "    case 1:"),
        (14, "        pass"),
        (15, "some_module.some_function("),
        (15, "    argument_number_one, argument_number_two, argument_number_three=argument_3"),
        (15, ")"),
    ]


def test_statements_made_without_positions() -> None:
    statement = ast.Assign([ast.Name("a")], ast.Constant(1))
    assert printing.unparse(statement) == ("a = 1\n", {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "(-1) ** a"),
        (-2.5, "(-2.5) ** a"),
        ((1, "b"), "(1, 'b') ** a"),
        ((1,), "(1,) ** a"),
        (float("-inf"), "(-1e309) ** a"),
        (float("nan"), "(1e309 - 1e309) ** a"),
        (16**5000, hex(16**5000) + " ** a"),
    ],
    ids=["int", "float", "tuple", "one", "infinity", "nan", "huge"],
)
def test_constant_made_by_hand(value: object, text: str) -> None:
    node = ast.BinOp(ast.Constant(value), ast.Pow(), ast.Name("a"))  # type: ignore[arg-type]
    assert printing.source(node) == text


def fstring(*values: object) -> ast.JoinedStr:
    """Strings are plain text, and anything else the expression of a field."""
    return ast.JoinedStr(
        [
            ast.Constant(value) if isinstance(value, str) else ast.FormattedValue(value, -1, None)  # type: ignore[arg-type]
            for value in values
        ]
    )


AWKWARD = "\\ ' \" \n % { é"


@pytest.mark.parametrize(
    "node",
    [
        fstring("a", ast.Constant(AWKWARD)),
        fstring(AWKWARD, ast.Constant(AWKWARD), AWKWARD),
        fstring("a", fstring(AWKWARD, ast.Constant("b"))),
        fstring("a", fstring("'", ast.Constant(AWKWARD))),
        fstring("a", ast.Subscript(ast.Constant(b"\x00\xff'\"%\n"), ast.Slice(), ast.Load())),
        ast.JoinedStr(
            [ast.FormattedValue(ast.Constant("a"), 114, fstring("*", ast.Constant("^9")))],
        ),
        ast.FormattedValue(ast.Constant("a"), 114, ast.Constant(">9")),
    ],
)
def test_fstring_made_by_hand_has_the_same_value(node: ast.expr) -> None:
    """Also where the running Python has no literal for the tree."""
    tree = ast.fix_missing_locations(ast.Expression(node))
    assert eval(printing.source(node)) == eval(compile(tree, "<tree>", "eval"))


@before_312
def test_fields_before_312_have_no_backslash() -> None:
    node = fstring(ast.Call(ast.Attribute(ast.Constant("\\"), "join"), [ast.Name("a")], []))
    assert printing.source(node) == "f\"{('%c' % (92,)).join(a)}\""


LEVELS = [
    "lambda: a",
    "a if b else c",
    "a or b",
    "a and b",
    "not a",
    "a < b",
    "a | b",
    "a + b",
    "a * b",
    "-a",
    "a ** b",
    "await a",
    "a(b)",
    "(a, b)",
    "(a := b)",
    "(yield a)",
    "1",
]


@pytest.mark.parametrize("text", LEVELS + EXPRESSIONS + STATEMENTS)
def test_every_kind_of_expression_in_every_place(text: str) -> None:
    """Each variable that is read makes room for an expression of each precedence."""
    reads = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    for place, name in enumerate(reads):
        if not isinstance(name.ctx, ast.Load):
            continue
        for level in LEVELS:
            tree = ast.parse(text)
            found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)][place]
            put(tree, found, ast.parse(level, mode="eval").body)
            printed = printing.source(tree)
            assert ast.dump(ast.parse(printed)) == ast.dump(tree), printed


def put(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Replace one node."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
            elif isinstance(value, list):
                value[:] = [new if item is old else item for item in value]


@pytest.mark.parametrize(("kind", "width"), [("printing_difference", 100), ("printing_difference", 10), ("gast_difference", 100)])
def test_standard_library(kind: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice of it, also with every call broken; the campaign takes it all."""
    monkeypatch.setattr(printing.printed_expressions, "WIDTH", width)
    checks = campaign()
    paths = checks.standard_library()
    taken, differences = 0, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in paths[7 :: len(paths) // 40]:
            tree = checks.parse(path)
            if tree is None:
                continue
            taken += 1
            if difference := getattr(checks, kind)(tree):
                differences[path.name] = difference
    assert taken >= 38
    assert differences == {}

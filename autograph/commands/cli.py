"""The command line: `autograph transpile`, `show`, `explain`, `check`, `run`.

Converting executes nothing; `run`, and `explain` with arguments, execute the file.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from autograph import __version__
from autograph.source.errors import AutographError
from autograph.source.files import Failure, fail, module_file, python_files, read, replace, write

if TYPE_CHECKING:
    from autograph.source.source import File

_MANY = 5  # files from which on progress is shown


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.  Exit codes: 0 done, 1 the input is at fault, or `--check` or `check` found something, 2 wrong use."""
    options = _parsed(argv)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except (Failure, AutographError) as error:
        _complain(error)
    except RecursionError:
        print("autograph: an expression is nested too deeply", file=sys.stderr)
    except BrokenPipeError:  # the reader has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("autograph: interrupted", file=sys.stderr)
        return 130
    return 1


class _Parser(argparse.ArgumentParser):
    """A parser whose errors say what may have been meant."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)", message)
        known = [*self._option_string_actions, *(c for a in self._actions if isinstance(a.choices, dict) for c in a.choices)]
        given = (wrong[1] or wrong[2]) if wrong else ""
        near = difflib.get_close_matches(given, known, 1) or difflib.get_close_matches(f"-{given}", known, 1)
        super().error(f"{message}; did you mean {near[0]}?" if given and near else message)


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser, commands = _parser()
    options, rest = parser.parse_known_args(argv)
    if rest:  # the command's own usage is shown
        commands[options.command].error(f"unrecognized arguments: {' '.join(rest)}")
    return options


def _parser() -> tuple[_Parser, dict[str, _Parser]]:
    parser = _Parser(prog="autograph", description="Plain Python control flow for JAX.")
    parser.add_argument("--version", action="version", version=f"autograph {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    text = "Convert the decorated functions of files, and what they call.  Nothing is executed."
    transpile = commands.add_parser("transpile", help="convert the decorated functions of files", description=text)
    transpile.add_argument("files", metavar="FILE", nargs="+", help="Python files, folders, or - for standard input")
    transpile.add_argument("-o", "--output", metavar="OUT", help="the file to write, - for standard output; for folders and several files the folder")
    transpile.add_argument("--all", action="store_true", help="convert every function, not only the decorated ones and what they call")
    transpile.add_argument("--diff", action="store_true", help="print what would change")
    transpile.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something would change")
    transpile.set_defaults(run=_transpile)

    show = commands.add_parser("show", help="print the converted source of a function", description="Print the converted source of a function.")
    show.add_argument("target", metavar="TARGET", help="module:function or file.py:function; a method is Class.method")
    show.add_argument("--after", metavar="PASS", default="", help="the source after this pass")
    show.set_defaults(run=_show)

    text = (
        "Print which variables each statement of a function carries, and why; or the page of an error.  With arguments the module is imported "
        "and the function is traced: the report has types, and says what each statement became."
    )
    explain = commands.add_parser("explain", help="explain a function, or an error by its id", description=text)
    explain.add_argument("target", metavar="TARGET", help="module:function, file.py:function, or an id such as AG201")
    explain.add_argument("args", metavar="ARG", nargs="*", help="Python literals, types such as float32[3,4], or name=ARG")
    explain.add_argument("--svg", metavar="OUT", help="write the control flow as a picture")
    explain.add_argument("--json", action="store_true", help="print the report as JSON")
    explain.set_defaults(run=_explain)

    text = "List what stays Python or cannot be converted in the decorated functions of files, and what they call."
    check = commands.add_parser("check", help="list what is not supported", description=text)
    check.add_argument("files", metavar="PATH", nargs="+", help="Python files or folders")
    check.add_argument("--all", action="store_true", help="look at every function")
    check.set_defaults(run=_check)

    text = "Run a script as `python` does; with --all every function of it is under `ag.convert`."
    run = commands.add_parser("run", help="run a script converted", description=text)
    run.add_argument("--all", action="store_true", help="convert every function, also those without a decorator")
    run.add_argument("script", metavar="SCRIPT", help="a Python file")
    run.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER, help="the arguments of the script")
    run.set_defaults(run=_run)
    return parser, commands.choices


def _complain(error: Exception) -> None:
    """Print what is wrong on standard error: `file:line:col: ID text` where it is in a file."""
    red = "\x1b[31m{}\x1b[0m" if sys.stderr.isatty() and "NO_COLOR" not in os.environ else "{}"
    if isinstance(error, AutographError) and (at := error.place) is not None:
        print(f"{at}:{at.column + 1}: {red.format(error.id)} {error.message}", file=sys.stderr)
    else:
        print(f"{red.format('autograph')}: {error.summary if isinstance(error, AutographError) else error}", file=sys.stderr)


def _transpile(options: Any) -> int:
    if options.output and (options.check or options.diff):
        fail("-o writes a file, --check and --diff write none: give one of them")
    files = list(python_files(options.files))
    several = len(options.files) > 1 or os.path.isdir(options.files[0])
    if several and not (options.output or options.check or options.diff):
        fail("several files need -o FOLDER, --check or --diff")
    if several and options.output == "-":
        fail("several files need -o FOLDER: standard output takes one")
    if several and options.output and os.path.isfile(options.output):
        fail(f"{options.output}: a file; several files need a folder")
    code = changed = 0
    for k, (name, below) in enumerate(files):
        _progress(k, len(files), name)
        try:
            changed += _transpiled(name, below if several or os.path.isdir(options.output or "") else "", options)
        except (Failure, AutographError, RecursionError) as error:  # the others are still done
            _complain(error if not isinstance(error, RecursionError) else Failure(f"{name}: an expression is nested too deeply"))
            code = 1
    _progress(len(files), len(files), f"{changed} of {len(files)} files converted" if not options.check else f"{changed} would change")
    return code or int(options.check and changed > 0)


def _transpiled(file: str, below: str, options: Any) -> bool:
    """Convert one file; whether anything has changed."""
    from autograph.commands.checking import staying
    from autograph.forms.module import transpile

    text, name, encoding = read(file)
    new = transpile(text, name, options.all)
    for finding in staying(text, name):
        print(finding, file=sys.stderr)
    if options.diff:
        lines = difflib.unified_diff(text.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name} (converted)")
        write(_painted("".join(lines)))
    if options.output and options.output != "-":
        target = Path(options.output, below) if below else Path(options.output)
        if below:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                fail(f"{target.parent}: {error.strerror}")
        replace(target, new, encoding)
    elif not (options.check or options.diff):
        write(new)
    return new != text


def _painted(diff: str) -> str:
    """A diff with colours, on a terminal."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return diff
    colours = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
    return "".join(f"{colours[line[0]]}{line.rstrip()}\x1b[0m\n" if line[:1] in colours else line for line in diff.splitlines(keepends=True))


def _progress(done: int, count: int, what: str) -> None:
    """One line that is written again, for many files on a terminal; the last one stays."""
    if count < _MANY or not sys.stderr.isatty():
        return
    sys.stderr.write(f"\r{done}/{count} {what[-70:]}\x1b[K" + ("\n" if done == count else ""))
    sys.stderr.flush()


def _target(target: str) -> tuple[Any, File]:
    """The node of the function that a target names, and its file."""
    from autograph.forms.module import functions, parsed

    place, colon, wanted = target.rpartition(":")
    if not colon:
        fail(f"{target}: a target is module:function or file.py:function")
    path = place if place.endswith(".py") or os.sep in place else module_file(place)
    text, name, _ = read(path)
    file = parsed(text, name)
    found = dict(functions(file.tree))
    if wanted not in found:
        fail(f"{path}: no function `{wanted}`; there are: {', '.join(found) or 'none'}")
    return found[wanted], file


def _show(options: Any) -> int:
    from autograph.forms.lowering import listing
    from autograph.passes import PASSES

    if options.after and options.after not in {p.name for p in PASSES}:
        fail(f"there is no pass {options.after!r}: the passes are {', '.join(p.name for p in PASSES)}")
    node, file = _target(options.target)
    write(listing(node, file, options.after))
    return 0


def _explain(options: Any) -> int:
    if re.fullmatch(r"AG\d+", options.target.upper()):
        return _page(options.target.upper())
    from autograph.report.explaining import report_of

    node, file = _target(options.target)
    report = report_of(node, file)
    if options.args:
        from autograph import explain
        from autograph.commands.arguments import arguments, function_of

        place, _, wanted = options.target.rpartition(":")
        args, kwargs = arguments(options.args)
        report = explain(function_of(place, wanted), *args, **kwargs)
    if options.svg:
        replace(Path(options.svg), report.svg(), "utf-8")
    else:
        write(report.to_json() + "\n" if options.json else report.text(sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    return 1 if report.error else 0


def _page(id: str) -> int:
    """Print the page of an error."""
    from importlib.resources import files

    pages = files("autograph.pages")
    page = pages / f"{id}.md"
    if not page.is_file():
        known = sorted(p.name.removesuffix(".md") for p in pages.iterdir() if p.name.startswith("AG"))
        fail(f"there is no error {id}: the ids are {', '.join(known)}")
    write(page.read_text(encoding="utf-8"))
    return 0


def _check(options: Any) -> int:
    from autograph.commands.checking import LIMITS, findings

    files = list(python_files(options.files))
    code = count = 0
    limits = f"{LIMITS}\n"
    for k, (file, _) in enumerate(files):
        _progress(k, len(files), file)
        try:
            text, name, _ = read(file)
            found = list(findings(text, name, options.all))
            write(limits + "".join(f"{finding}\n" for finding in found))
            limits, count = "", count + len(found)
        except (Failure, AutographError) as error:
            _complain(error)
            code = 1
    _progress(len(files), len(files), f"{count} found")
    return code or int(count > 0)


def _run(options: Any) -> int:
    from autograph.commands.running import script_code

    text, _, _ = read(options.script)
    path = os.path.abspath(options.script)
    module = type(sys)("__main__")
    code = script_code(text, path, options.all)
    sys.argv = [options.script, *options.args]
    sys.path[0] = os.path.dirname(path)
    module.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    try:
        exec(code, module.__dict__)
    except Exception as error:
        error.__traceback__ = _of_script(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _of_script(tb: TracebackType | None) -> TracebackType | None:
    """A traceback as Python shows it of the script: without our frames, but where all were asked for."""
    frames = []
    while (tb := tb and tb.tb_next) is not None:
        frames.append(tb)
    from autograph.source.policy import OURS

    shown: TracebackType | None = None
    for tb in reversed(frames):
        if os.environ.get("AUTOGRAPH_TRACEBACK") == "full" or not tb.tb_frame.f_code.co_filename.startswith(OURS):
            shown = TracebackType(shown, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return shown


if __name__ == "__main__":
    sys.exit(main())

"""Send calls that may reach user code, and builtins with a meaning on arrays, through the runtime.

    f(x)                  =>   ag.call(f)(x)
    range(n), min(a, b)   =>   ag.range(n), ag.min(a, b)
    math.sqrt(x)          =>   ag.call(math.sqrt)(x)
    jax.grad(loss)(w)     =>   ag.call(jax.grad)(loss)(w)
    jnp.array(items)      =>   ag.call(jnp.array)(items)         (of lists that a loop fills: they are an array already)
    jnp.sum(x[:n])        =>   ag.call(jnp.sum)(...)             (of slices whose length is not known; likewise `ag.len(x[:n])`)
    self.items.append(x)  =>   ag.call_in(self, 'items', 'append')(x)         (a list, which may become longer in a compiled loop)
    with lock:            =>   with ag.entering(lock):           (which does not belong into compiled code)
    super()               =>   super(__class__, self)            (the call may have moved into a function of ours)

What needs no wrapper is decided from the file's text alone: names bound once, by an import of a library; builtins; functions defined here.
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.names import binds_all
from autograph.passes.callables import (
    ARRAY_LIBRARIES,
    BUILTINS,
    CALLING,
    CALLING_LIBRARIES,
    CHANGING,
    HIGHER,
    KEYWORDS,
    MAKING,
    OF_ROWS,
    REPLACED,
    THREADED,
    is_runtime,
    is_runtime_call,
    is_update,
)
from autograph.passes.context import Context
from autograph.passes.slice_calls import filled, fills, makes_section, sections
from autograph.trees import syntax as s
from autograph.trees.quote import quote_expr


def lower_calls(fn: Any, context: Context) -> None:
    lower = _Calls(context, fn)
    if isinstance(fn, s.Lambda):
        fn.body = lower.visit(fn.body)
    else:
        fn.body = [lower.visit(stmt) for stmt in fn.body]


class _Calls(s.Transformer):
    def __init__(self, context: Context, fn: Any) -> None:
        self.context = context
        self.first = next(iter(s.parameter_names(fn.args)), "")
        self.local: frozenset[str] = frozenset()
        self.own: frozenset[str] = frozenset()  # of the innermost function
        self.shared: frozenset[str] = frozenset()  # of these, what functions inside it read
        self.defined: frozenset[str] = frozenset()
        self.sections, self.filled = sections(fn), filled(fn, context)
        self._enter(fn)

    def _enter(self, fn: Any) -> None:
        """The names of a function of the user's: which are local, which are functions defined once in it."""
        body = [fn.body] if isinstance(fn, s.Lambda) else fn.body
        parameters = frozenset(s.parameter_names(fn.args))
        counts: dict[str, int] = {}
        taken: set[str] = set()
        declared: set[str] = set()
        generated, generator = self.context.blocks.values(), not self.context.fresh.kinds.isdisjoint(s.YIELDS)
        stack = list(body)
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is s.Name:
                if type(node.ctx) is not s.Load:
                    counts[node.id] = 2
            elif kind is s.Global or kind is s.Nonlocal:
                declared.update(node.names)
            elif kind is s.FunctionDef:
                made = node.decorator_list or generator and s.contains(node.body, *s.YIELDS)  # a generator is noted as made here
                counts[node.name] = counts.get(node.name, 0) + (2 if made else 1)
                if node.name in generated:  # blocks of the function itself
                    stack += node.body
                else:
                    taken |= {n.id for n in s.walk(node) if isinstance(n, s.Name)}
            elif kind not in _INNER:
                stack += s.children(node)
        self.defined = (self.defined - counts.keys() - parameters) | {n for n, k in counts.items() if k == 1} - parameters
        self.own = (parameters | counts.keys() | binds_all(body)) - declared
        self.shared = frozenset(self.own & taken)
        self.local = self.local | self.own | declared

    def _function(self, node: Any) -> Any:
        """A function made here: its own first parameter for `super()`, its own names."""
        args = node.args
        if isinstance(node, s.Lambda):
            if not (args.args or args.vararg or args.kwonlyargs or args.kwarg or args.posonlyargs):
                node.body = self.visit(node.body)
                return node
        elif node.name in self.context.blocks.values():
            node.body = [self.visit(b) for b in node.body]
            return node
        before = self.local, self.own, self.shared, self.defined, self.first
        args.defaults = [self.visit(d) for d in args.defaults]
        args.kw_defaults = [d and self.visit(d) for d in args.kw_defaults]
        if not isinstance(node, s.Lambda):
            node.decorator_list = [self.visit(d) for d in node.decorator_list]
            self.first = next(iter(s.parameter_names(args)), self.first)
        self._enter(node)
        node.body = self.visit(node.body) if isinstance(node, s.Lambda) else [self.visit(b) for b in node.body]
        self.local, self.own, self.shared, self.defined, self.first = before
        return node

    def visit_With(self, node: Any) -> Any:
        self.generic_visit(node)
        for item in node.items:
            e = item.context_expr
            known = isinstance(e, s.Call) and (is_runtime(e.func) or bool(self.library(e.func)))
            if not known:
                item.context_expr = quote_expr("ag.entering($e)", e, e=e)
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_Call(self, node: Any) -> Any:
        func = node.func
        if isinstance(func, s.Name) and func.id == "super" and not node.args and self.first and "super" not in self.local:
            node.args = [s.at(s.name("__class__"), node), s.at(s.name(self.first), node)]
            return node
        self.generic_visit(node)
        if isinstance(func, s.Name):
            return self._named(node, func)
        if path := self.library(func):
            return self._library(node, path)
        if is_runtime(func) or is_update(func):
            return node
        if isinstance(func, s.Call):  # jax.grad(f)(x): what a known function returned
            ours = is_runtime_call(func) and func.func.attr in ("call", "storing", "reading")
            callee = func.func.args[0] if isinstance(func.func, s.Call) and is_runtime_call(func.func) and func.func.args else func.func
            return node if ours or self._kept(callee) else self._wrapped(node)
        return self._wrapped(node)

    def _named(self, node: Any, func: Any) -> Any:
        id = func.id
        if id == s.RUNTIME or id in self.defined or id in self.context.blocks.values():
            return node
        if self.context.is_builtin(func) and id not in self.local:
            if id in BUILTINS:
                node.func = s.at(s.runtime(_OWN_NAMES.get(id, id)), func)
                return node
            if id == "len" and len(node.args) == 1 and str(getattr(node.args[0], "attr", "")) != "shape":
                node.func = s.at(s.runtime("len"), func)
                return node
            if id == "type" and len(node.args) == 1 and not node.keywords:
                node.func = s.at(s.runtime("type_of"), func)
                return node
            return self._wrapped(node) if id in CALLING else node
        if id in self.context.converted and id not in self.local and id not in self.context.free:
            return node
        if path := self.library(func):
            return self._library(node, path)
        return self._wrapped(node)

    def library(self, func: Any) -> str:
        """The dotted name that a callee stands for, if it belongs to an array library by the file's text alone."""
        parts: list[str] = []
        while isinstance(func, s.Attribute):
            parts.append(func.attr)
            func = func.value
        if not isinstance(func, s.Name) or func.id in self.local or func.id in self.context.free or func.id not in self.context.modules:
            return ""
        path = ".".join([self.context.modules[func.id], *reversed(parts)])
        return path if path.split(".")[0] in ARRAY_LIBRARIES else ""

    def _kept(self, func: Any) -> bool:
        """Whether a callee of a library is called as it is."""
        path = self.library(func)
        return bool(path) and path.split(".")[0] not in REPLACED

    def _library(self, node: Any, path: str) -> Any:
        *module, last = path.split(".")
        if path.split(".")[0] in REPLACED:
            drawn = path.startswith("numpy.random")
            array = path.startswith("numpy.") and last in MAKERS  # which may be stored into
            return node if _is_literal([*node.args, *node.keywords]) and not drawn and not array else self._wrapped(node)
        slices = module[:2] == ["jax", "numpy"] and any(makes_section(a, self.sections) for a in node.args)
        if slices or path.startswith(("jax.tree.", "jax.tree_util.")):
            return self._wrapped(node)
        if module == ["jax", "numpy"] and node.args and self._may_be_filled(last, node.args[0]):
            return self._wrapped(node)
        if module[:2] == ["jax", "experimental"] or path.startswith(CALLING_LIBRARIES):
            return self._wrapped(node)
        places = HIGHER.get(last, (0,) if path.startswith(("jax.tree.map", "jax.tree_util.tree_map")) else ())
        given = [node.args[k] for k in places if k < len(node.args)] + [k.value for k in node.keywords if places and k.arg in KEYWORDS]
        return self._wrapped(node) if any(self._hands_on(g, path in THREADED) for g in given) else node

    def _may_be_filled(self, name: str, arg: Any) -> bool:
        """Whether a function of `jax.numpy` makes an array of a list that may have been filled by a loop."""
        return fills(arg, self.filled) if name in MAKING else name in OF_ROWS and not isinstance(arg, (s.List, s.Tuple, s.ListComp))

    def _hands_on(self, value: Any, threaded: bool) -> bool:
        """Whether a function that is handed on is to be converted on the way, or may fail or change state, which has to come `threaded` through."""
        if isinstance(value, (s.List, s.Tuple)):
            return any(self._hands_on(e, threaded) for e in value.elts)
        if isinstance(value, s.Lambda):
            return threaded or any(isinstance(n, s.Name) and (n.id == s.RUNTIME or self._calls_ours(n.id)) for n in s.walk(value.body))
        if isinstance(value, s.Constant):
            return False
        if isinstance(value, s.Call):  # what a function of JAX makes of one is made of the converted one
            wrapped = isinstance(value.func, s.Call) and is_runtime_call(value.func) and value.func.args
            return threaded or not self._kept(value.func.args[0] if wrapped else value.func)
        return threaded or not isinstance(value, (s.Name, s.Attribute)) or not self._kept(value)

    def _calls_ours(self, name: str) -> bool:
        """Whether a name is that of a function that is converted with this one, and so called as it is."""
        return name in self.defined or name in self.context.converted and name not in self.local and name not in self.context.free

    def _wrapped(self, node: Any) -> Any:
        func = node.func
        if isinstance(func, s.Attribute) and node.lineno != func.end_lineno:  # where CPython puts a chained method call
            node.lineno, node.col_offset = func.end_lineno, func.end_col_offset - len(func.attr)
        node.func = self._at_home(func) or quote_expr("ag.call($f)", func, f=func)
        return node

    def _at_home(self, func: Any) -> Any:
        """A method that changes the length of a list which an object, a dict or the code around holds."""
        match func:
            case s.Attribute(value=s.Attribute(value=obj, attr=name), attr=method) if method in CHANGING:
                return quote_expr("ag.call_in($obj, $name, $method)", func, obj=obj, name=s.constant(name), method=s.constant(method))
            case s.Attribute(
                value=s.Subscript(value=holder, slice=s.Constant() as key)
                | s.Call(func=s.Attribute(attr="get_item", value=s.Name(id=s.RUNTIME)), args=[holder, key]),
                attr=method,
            ) if method in CHANGING:
                return quote_expr("ag.call_at($holder, $key, $method)", func, holder=holder, key=key, method=s.constant(method))
            case s.Attribute(value=s.Name(id=id) as variable, attr=method) if (
                method in CHANGING and (id not in self.own or id in self.shared) and not self.context.is_builtin(variable)
            ):
                return quote_expr("ag.call_of($variable, $method)", func, variable=s.thunk(variable), method=s.constant(method))
        return None


def _is_literal(nodes: list[Any]) -> bool:
    """Whether arguments are constants, which are never traced."""
    return all(isinstance(n, (s.Constant, s.Tuple, s.List, s.keyword, s.UnaryOp, s.Load, s.USub)) for root in nodes for n in s.walk(root))


MAKERS = frozenset("zeros ones empty full array asarray arange linspace logspace geomspace eye identity tri diag indices vander fromiter".split())
_OWN_NAMES = {"str": "str_", "repr": "repr_", "format": "format_", "setattr": "set_attr", "delattr": "del_attr"}
_INNER = frozenset({s.AsyncFunctionDef, s.Lambda, s.ClassDef, s.Constant})

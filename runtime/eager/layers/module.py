"""`ag.Module`: a class that finds the Variables in its attributes; nothing else is done for it."""

from __future__ import annotations

from typing import Any

from autograph.runtime.eager.graph_of_objects import variables_in
from autograph.runtime.eager.variables import Variable
from autograph.runtime.state.object_graph import Unseen


class Module:
    """An object with Variables in its attributes, and in those of objects, lists, tuples and dicts there.

    Args:
      name: by default that of the class.

    The semantics are those of `tf.Module` (https://www.tensorflow.org/api_docs/python/tf/Module).

    >>> import autograph as ag
    >>> class Line(ag.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w, self.b = ag.Variable(2.0, name="w"), ag.Variable(1.0, name="b")
    ...     @ag.function
    ...     def __call__(self, x):
    ...         return self.w * x + self.b
    >>> line = Line()
    >>> float(line(3.0)), [v.name for v in line.trainable_variables]
    (7.0, ['b', 'w'])
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name or type(self).__name__.lower()

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The Variables in it, each once: by the names of attributes, sorted, its own before those of the modules in it, as in TensorFlow."""
        found = variables_in({"": self})
        return tuple(found[path] for path in sorted(found, key=_in_order))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those that are trained."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The others."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules and layers in it, each once."""
        found: dict[int, Any] = {}
        todo: list[Any] = [*vars(self).values()]
        while todo:
            x = todo.pop(0)
            if isinstance(x, (list, tuple)):
                todo += x
            elif isinstance(x, dict):
                todo += x.values()
            elif hasattr(x, "trainable_variables") and id(x) not in found:
                found[id(x)] = x
                todo += [v for held in vars(x).values() for v in (vars(held).values() if type(held) is Unseen else [held])]
        return tuple(found.values())


def _in_order(path: str) -> list[tuple[bool, str, int]]:
    """Sorts the paths of Variables as `tf.Module` does: at each level those of the module itself come first, then those of the modules in it."""
    names = path.split("/")[1:]
    last = max((k for k, name in enumerate(names) if not name.isdigit()), default=0)
    return [(k < last, "" if name.isdigit() else name, int(name) if name.isdigit() else 0) for k, name in enumerate(names)]

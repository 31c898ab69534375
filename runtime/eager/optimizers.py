"""Optimizers on Variables, with the names of TensorFlow: their arithmetic is optax's (https://optax.readthedocs.io)."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import Deferred, VariableRef, value_of
from autograph.runtime.eager import directions
from autograph.runtime.eager.schedules import CosineDecay as CosineDecay
from autograph.runtime.eager.schedules import ExponentialDecay as ExponentialDecay
from autograph.runtime.eager.schedules import InverseTimeDecay as InverseTimeDecay
from autograph.runtime.eager.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from autograph.runtime.eager.schedules import PolynomialDecay as PolynomialDecay
from autograph.runtime.eager.schedules import exponential_decay as exponential_decay
from autograph.runtime.eager.tape import GradientTape
from autograph.runtime.eager.variables import Variable
from autograph.runtime.errors.errors import OptimizerError
from autograph.runtime.errors.extras import needed
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.traces import Tracer
from autograph.runtime.state.object_graph import Unseen
from autograph.runtime.state.variable_reads import outermost

__all__ = [
    "Adadelta", "Adagrad", "AdagradOptimizer", "Adam", "AdamOptimizer", "AdamW", "Adamax", "CosineDecay", "ExponentialDecay",
    "GradientDescentOptimizer", "InverseTimeDecay", "Lion", "Momentum", "MomentumOptimizer", "Nadam", "Optimizer", "PiecewiseConstantDecay",
    "PolynomialDecay", "RMSPropOptimizer", "RMSprop", "SGD", "exponential_decay", "get_or_create_global_step",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


optax = needed("optax", "optimizers")

Pairs = Iterable[tuple[Any, Variable]]

_global_step: Variable | None = None


def _pairs(given: Any) -> list[tuple[Any, Variable]]:
    """Gradients and their Variables.

    Raises:
      OptimizerError: (AG704) it is no sequence of such pairs.
    """
    pairs = list(given)
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
        raise OptimizerError("`apply_gradients` takes pairs of a gradient and its Variable", here(), "pair them: `zip(gradients, variables)`")
    for g, v in pairs:
        if not isinstance(v, Variable):
            swapped = isinstance(g, Variable)
            why = "the Variable of a pair comes first, and the gradient second" if swapped else "the second of a pair is no Variable"
            raise OptimizerError(why, here(), "give pairs `(gradient, variable)`: `zip(gradients, variables)`")
    return [(g, v) for g, v in pairs]


def _named(variables: Sequence[Variable]) -> str:
    """The names of Variables in a sentence, each once."""
    count = Counter(f"`{v.name}`" if v.name else "a Variable" for v in variables)
    return ", ".join(name if n == 1 else f"{name} ({n} of that name)" if name != "a Variable" else f"{n} Variables" for name, n in count.items())


def get_or_create_global_step() -> Variable:
    """The Variable that counts steps, one for the program."""
    global _global_step
    if _global_step is None:
        _global_step = Variable(0, trainable=False, name="global_step")
    return _global_step


class Optimizer:
    """Changes Variables by their gradients.

    Args:
      transformation: any of optax's, whose updates are added to the Variables: `Optimizer(optax.adamw(1e-3))`.  It is given all Variables at once, so
        that each call has to be given the same ones.

    The state of the transformation is held by Variables (`variables`), and `iterations` counts the steps.  A method may be called eagerly, in
    `ag.function` and in the loops and branches of one.

    >>> import optax, autograph as ag
    >>> w = ag.Variable(3.0)
    >>> optimizer = ag.optimizers.Optimizer(optax.sgd(0.1))
    >>> for _ in range(5):
    ...     optimizer.minimize(lambda: 5 * w, [w])
    >>> print(w)
    0.5
    """

    def __init__(self, transformation: Any) -> None:
        self._transformation = transformation
        self.iterations = Variable(0, trainable=False, name="iterations")
        # By identity: Variables, and their state.  In an object that is no state of a compiled function: what a trace has made is there for good.
        self._held: Any = Unseen(slots={})
        self._update = jax.jit(self._updated)

    @property
    def _slots(self) -> dict[tuple[int, ...], tuple[tuple[Variable, ...], Any]]:
        return self._held.slots  # type: ignore[no-any-return]

    @property
    def variables(self) -> list[Variable]:
        """What it remembers of the Variables that it has changed, after `iterations`."""
        return [self.iterations, *(x for _, state in self._slots.values() for x in _variables(state))]

    def slots(self) -> list[tuple[tuple[Variable, ...], list[Variable]]]:
        """The Variables that are changed together, and what is remembered of them."""
        return [(of, _variables(state)) for of, state in self._slots.values()]

    def minimize(self, loss: Callable[[], Any], var_list: Any = None, global_step: Variable | None = None) -> Any:
        """One step: the gradients of `loss()` by some Variables are applied to them.

        Args:
          loss: a function without arguments; or a node of `ag.graph`, and then the step is a node too.
          var_list: a Variable, or a list of them; by default the trainable ones that `loss` reads.
          global_step: a Variable that is counted up.

        Raises:
          OptimizerError: (AG704) there is no Variable, or no gradient.
        """
        return self.apply_gradients(self.compute_gradients(loss, var_list), global_step)

    def compute_gradients(self, loss: Callable[[], Any], var_list: Any = None) -> list[tuple[Any, Variable]]:
        """Pairs of a gradient of `loss()` and its Variable, to be changed and applied.  The gradient is None where the loss does not depend on it.

        Raises:
          OptimizerError: (AG704) there is no Variable.
        """
        if isinstance(loss, Deferred):
            return loss.gradients(var_list)
        if not callable(loss):
            raise OptimizerError(
                "the loss is a value, and a function without arguments is needed", here(), "write `minimize(lambda: loss(...), ...)`"
            )
        given = None if var_list is None else [var_list] if isinstance(var_list, Variable) else list(var_list)
        with GradientTape(watch_accessed_variables=given is None) as tape:
            if given is not None:
                tape.watch(given)
            value = loss()
        variables = list(tape.watched_variables()) if given is None else given
        if not variables:
            raise OptimizerError(
                "there is no Variable to change", here(), "give the Variables that the loss depends on, or read trainable ones in it"
            )
        return list(zip(tape.gradient(value, variables), variables, strict=True))

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Variable | None = None) -> Any:
        """Change Variables by their gradients; pairs whose gradient is None are left out.

        Raises:
          OptimizerError: (AG704) there is no gradient; a gradient has another shape; or a whole transformation is given other Variables than before.
        """
        grads_and_vars = _pairs(grads_and_vars)
        if waiting := [g for g, _ in grads_and_vars if isinstance(g, Deferred)]:
            variables = [v for _, v in grads_and_vars]
            return waiting[0].deferred(_Step(self, variables, global_step), *(g for g, _ in grads_and_vars))
        pairs = [(value_of(g), v) for g, v in grads_and_vars]
        there = [(g, v) for g, v in pairs if g is not None]
        if not there:
            why = f"the gradients of {_named([v for _, v in pairs])} are None: the loss does not depend on them" if pairs else "there is no gradient"
            raise OptimizerError(
                why, here(), "compute the loss from these Variables, in the block of the tape, or in the function that `minimize` receives"
            )
        if len(there) < len(pairs) and (at := here()) is not None:
            text = (
                f"the gradients of {_named([v for g, v in pairs if g is None])} are None, and these are not changed: the loss does not depend on them"
            )
            warnings.warn_explicit(text, UserWarning, at.file, at.line)
        for g, v in there:
            if jnp.shape(g) != v.shape:
                raise OptimizerError(
                    f"a gradient of shape {jnp.shape(g)} is given for a Variable of shape {v.shape}", here(), "pair each with its own"
                )
        gradients, variables = [g for g, _ in there], [v for _, v in there]
        slots = self._state(variables)
        held = jax.tree.map(value_of, slots, is_leaf=_is_variable)
        values, state = self._update(gradients, held, [v.value for v in variables], self._now())
        for v, x in zip([*variables, *_variables(slots)], [*values, *jax.tree.leaves(state)], strict=True):
            v.assign(x)
        self.iterations.assign_add(1)
        if global_step is not None:
            global_step.assign_add(1)
        return None

    def _now(self) -> Any:
        """What a step needs to know beside gradients and what is remembered."""
        return None

    def _updated(self, gradients: list[Any], state: Any, values: list[Any], now: Any) -> tuple[list[Any], Any]:
        updates, state = self._transformation.update(gradients, state, values)
        return optax.apply_updates(values, updates), state

    def _state(self, variables: Sequence[Variable]) -> Any:
        """What is remembered of some Variables, which are changed together."""
        if self._slots and tuple(map(id, variables)) not in self._slots:
            raise OptimizerError(
                "this transformation has been given other Variables before, or in another order, and remembers those", here(),
                "give the same list in each call, or use one optimizer for each",
            )  # fmt: skip
        return self._slot(variables)

    def _slot(self, variables: Sequence[Variable]) -> Any:
        key = tuple(map(id, variables))
        if key not in self._slots:
            self._slots[key] = tuple(variables), self._first(variables)
        return self._slots[key][1]

    def _first(self, variables: Sequence[Variable]) -> Any:
        with jax.ensure_compile_time_eval():
            state = self._transformation.init([_known(v) for v in variables])
            return jax.tree.map(lambda x: Variable(x, trainable=False), state)


class _Step:
    """A step whose gradients are computed later."""

    def __init__(self, optimizer: Optimizer, variables: list[Variable], global_step: Variable | None) -> None:
        self._optimizer, self._variables, self._global_step = optimizer, variables, global_step
        self.__name__ = "apply_gradients"

    def __call__(self, *gradients: Any) -> None:
        self._optimizer.apply_gradients(zip(gradients, self._variables, strict=True), self._global_step)


_RATE = "learning_rate"


class _OfEach(Optimizer):
    """One that changes each Variable by itself: a direction, times a learning rate.

    Args:
      direction: a transformation of optax, or one of `runtime/eager/directions.py`: it is given the number of the step.
      after: what is done after the direction has been multiplied by the rate.
      weight_decay: each step takes this share of a Variable, times the learning rate, before the direction (Loshchilov and Hutter, 2019,
        https://arxiv.org/abs/1711.05101).
      clipnorm: the norm that no gradient is longer than.
      clipvalue: what no number of a gradient is beyond.
      global_clipnorm: the norm that all gradients of a step together are not longer than.

    Raises:
      OptimizerError: (AG704) more than one of the three is given.

    The semantics are those of `tf.keras.optimizers.Optimizer` (https://keras.io/api/optimizers).
    """

    def __init__(
        self, direction: Any, learning_rate: Any, after: Any = None, *, weight_decay: float | None = None, clipnorm: float | None = None,
        clipvalue: float | None = None, global_clipnorm: float | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(optax.chain(direction, directions.by_rate(), after or optax.identity()))
        self.weight_decay, self.name = weight_decay, name or type(self).__name__
        clips = {"clipnorm": clipnorm, "clipvalue": clipvalue, "global_clipnorm": global_clipnorm}
        given = [option for option, value in clips.items() if value]
        if len(given) > 1:
            names = " and ".join(f"`{x}`" for x in given)
            raise OptimizerError(f"{names} are given, and gradients are clipped in one way", here(), "give one of them")
        self.clipnorm, self.clipvalue, self.global_clipnorm = clipnorm, clipvalue, global_clipnorm
        self._held.rate = None
        self.learning_rate = learning_rate

    @property
    def learning_rate(self) -> Any:
        """What the direction is multiplied by: a Variable where a number was given, so that compiled steps see another that is set; or as given."""
        return self._held.rate

    @learning_rate.setter
    def learning_rate(self, rate: Any) -> None:
        if not (isinstance(rate, VariableRef) or callable(rate)) and getattr(self._held.rate, "name", None) == _RATE:
            self._held.rate.assign(rate)
        elif isinstance(rate, (VariableRef, Tracer)) or callable(rate):
            self._held.rate = rate
        else:
            self._held.rate = Variable(rate, trainable=False, dtype=jnp.result_type(float), name=_RATE)

    def _now(self) -> Any:
        """The learning rate and the number of the step, from 1."""
        rate, done = self.learning_rate, self.iterations.value
        if callable(rate) and not isinstance(rate, VariableRef):
            rate = rate(done) if inspect.signature(rate).parameters else rate()
        return value_of(rate), done + 1

    def _state(self, variables: Sequence[Variable]) -> Any:
        return [self._slot([v]) for v in variables]

    def _updated(self, gradients: list[Any], state: Any, values: list[Any], now: Any) -> tuple[list[Any], Any]:
        rate, step = now
        if self.weight_decay:
            values = [x - (x * self.weight_decay * rate).astype(x.dtype) for x in values]
        changed, states = [], []
        for g, s, x in zip(self._clipped(gradients), state, values, strict=True):
            [u], new = self._transformation.update([jnp.asarray(g, x.dtype)], s, [x], rate=rate, step=step)
            changed.append(x - u.astype(x.dtype))
            states.append(new)
        return changed, states

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        def by(transformation: Any, given: list[Any]) -> list[Any]:
            return transformation.update(given, transformation.init(given))[0]  # type: ignore[no-any-return]

        if self.clipnorm:
            return [by(optax.clip_by_global_norm(self.clipnorm), [g])[0] for g in gradients]
        if self.global_clipnorm:
            return by(optax.clip_by_global_norm(self.global_clipnorm), gradients)
        return by(optax.clip(self.clipvalue), gradients) if self.clipvalue else gradients


class SGD(_OfEach):
    """Gradient descent, with momentum: `w -= learning_rate * g`.

    With momentum a step is `v = momentum * v - learning_rate * g; w += v`, so that another learning rate is seen by what comes after it only.

    Args:
      learning_rate: a number, a Variable, a function without arguments, or a schedule of optax (a function of the step).
      momentum: how much of the last step is kept.
      nesterov: whether the step looks one ahead.
      options: `weight_decay`, `clipnorm`, `clipvalue` and `global_clipnorm`, as all optimizers with a name have them.

    >>> import autograph as ag
    >>> w = ag.Variable(3.0)
    >>> optimizer = ag.optimizers.SGD(0.1)
    >>> for _ in range(5):
    ...     optimizer.minimize(lambda: w * 5.0)
    >>> f"{float(w):.1f}"
    '0.5'
    """

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, **options: Any) -> None:
        super().__init__(optax.identity(), learning_rate, optax.trace(momentum, nesterov) if momentum else None, **options)


class Momentum(_OfEach):
    """Gradient descent with momentum as in TensorFlow 1: `v = momentum * v + g; w -= learning_rate * v`.

    >>> import autograph as ag
    >>> w = ag.Variable(1.0)
    >>> optimizer = ag.optimizers.Momentum(0.1, 0.5)
    >>> for _ in range(2):
    ...     optimizer.minimize(lambda: w * 1.0)
    >>> f"{float(w):.2f}"
    '0.75'
    """

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.9, use_nesterov: bool = False, **options: Any) -> None:
        super().__init__(optax.trace(momentum, use_nesterov), learning_rate, **options)


class RMSprop(_OfEach):
    """RMSprop (Hinton, lecture 6e of *Neural networks for machine learning*, 2012)."""

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-7, centered: bool = False, **options: Any
    ) -> None:
        super().__init__(_rms(rho, epsilon, centered, 0.0), learning_rate, optax.trace(momentum) if momentum else None, **options)


class Adam(_OfEach):
    """Adam (Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980); epsilon is added as at the end of its section 2, and as in Keras.

    Args:
      amsgrad: whether a step is divided by the largest mean of the squares so far (Reddi, Kale and Kumar, 2018, https://arxiv.org/abs/1904.09237).

    >>> import autograph as ag
    >>> w = ag.Variable(1.0)
    >>> optimizer = ag.optimizers.Adam(0.1, weight_decay=0.1, clipnorm=1.0)
    >>> optimizer.minimize(lambda: w * 5.0)
    >>> f"{float(w):.2f}"
    '0.89'
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7, amsgrad: bool = False, **options: Any
    ) -> None:
        super().__init__(directions.adam(beta_1, beta_2, epsilon, amsgrad), learning_rate, **options)


class AdamW(Adam):
    """Adam whose steps take a share of the Variables too (Loshchilov and Hutter, 2019, https://arxiv.org/abs/1711.05101)."""

    def __init__(
        self, learning_rate: Any = 0.001, weight_decay: float = 0.004, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        amsgrad: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay=weight_decay, **options)


class Adamax(_OfEach):
    """Adamax, with the largest gradients in the place of squares (Kingma and Ba, 2015, section 7)."""

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7, **options: Any) -> None:
        super().__init__(directions.adamax(beta_1, beta_2, epsilon), learning_rate, **options)


class Nadam(_OfEach):
    """Adam with Nesterov's momentum (Dozat, 2016, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ), whose schedule of the momentum it has."""

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7, **options: Any) -> None:
        super().__init__(directions.nadam(beta_1, beta_2, epsilon), learning_rate, **options)


class Adadelta(_OfEach):
    """Adadelta (Zeiler, 2012, https://arxiv.org/abs/1212.5701)."""

    def __init__(self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **options: Any) -> None:
        super().__init__(optax.scale_by_adadelta(rho, epsilon), learning_rate, **options)


class Adagrad(_OfEach):
    """Adagrad (Duchi, Hazan and Singer, 2011)."""

    def __init__(self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7, **options: Any) -> None:
        super().__init__(optax.scale_by_rss(initial_accumulator_value, epsilon), learning_rate, **options)


class Lion(_OfEach):
    """Lion: the sign of a mean of the gradients (Chen et al., 2023, https://arxiv.org/abs/2302.06675)."""

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **options: Any) -> None:
        super().__init__(optax.scale_by_lion(beta_1, beta_2), learning_rate, **options)


GradientDescentOptimizer = SGD
MomentumOptimizer = Momentum


class RMSPropOptimizer(_OfEach):
    """RMSprop as in TensorFlow 1, where the mean of the squares is 1 at first."""

    def __init__(
        self, learning_rate: Any = 0.001, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10, centered: bool = False, **options: Any
    ) -> None:
        super().__init__(_rms(decay, epsilon, centered, 1.0), learning_rate, optax.trace(momentum) if momentum else None, **options)


class AdagradOptimizer(Adagrad):
    """Adagrad as in TensorFlow 1: nothing is added to the sum of the squares."""

    def __init__(self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, **options: Any) -> None:
        super().__init__(learning_rate, initial_accumulator_value, 0.0, **options)


class AdamOptimizer(Adam):
    """Adam with the defaults that it has in TensorFlow 1."""

    def __init__(self, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, **options: Any) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, **options)


def _rms(decay: float, epsilon: float, centered: bool, first: float) -> Any:
    return (optax.scale_by_stddev if centered else optax.scale_by_rms)(decay=decay, eps=epsilon, initial_scale=first)


def _is_variable(x: Any) -> bool:
    return isinstance(x, Variable)


def _variables(state: Any) -> list[Variable]:
    return [x for x in jax.tree.leaves(state, is_leaf=_is_variable) if isinstance(x, Variable)]


def _known(v: Variable) -> Any:
    """What a Variable holds, or zeros where that is traced."""
    value = outermost(v)
    return jnp.zeros(v.shape, v.dtype) if isinstance(value, Tracer) else value

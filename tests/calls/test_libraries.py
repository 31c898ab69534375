"""Users' functions with plain Python control flow, together with JAX's transformations and the libraries around JAX."""

from contextlib import suppress
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.ode import odeint

import autograph as ag
from tests.harness import assert_same

pytestmark = pytest.mark.libraries

X = jnp.array([-2.0, -0.5, 0.25, 1.0, 3.0])
KNOWN = {
    "test_equinox_training[model]": "what `ag.function` returns must be arrays: the model holds functions; use `eqx.filter_jit` on a converted function",
    "test_linen_and_optax[function-function]": "flax's counters of random draws are Python numbers in a dict, which the state of `ag.function` takes for its own",
    "test_linen_and_optax[jit-function]": "flax's counters of random draws are Python numbers in a dict, which the state of `ag.function` takes for its own",
    "test_state_of_flax_changed_after_and_in_a_branch[linen-in]": "flax refuses, or JAX, in its own words",
    "test_diffrax[eager-reached]": "on concrete arrays the plain form does not convert functions that a library's class keeps",
    "test_below_a_type_checker[beartype-function]": "beartype does not look at the signature of a callable object",
}


@pytest.fixture(autouse=True)
def known(request):
    """What falls short, with the reason."""
    if request.node.name in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[request.node.name], strict=True))


BOTH = pytest.mark.parametrize("decorator", [ag.function, ag.convert], ids=["function", "convert"])


@pytest.fixture(params=[ag.function, lambda f: jax.jit(ag.convert(f)), ag.convert], ids=["function", "jit", "eager"])
def form(request):
    return request.param


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


close = partial(assert_same, rtol=1e-4)


def right_or_refused(run, want):
    """What cannot be staged may be an error of ours; never a wrong number or a raw error."""
    with suppress(ag.AutographError):
        close(run(), want)


def bent(x, slope=0.1):
    if x > 2:
        return 2.0 + 0.5 * (x - 2.0) ** 2
    return x * x if x > 0 else slope * x


def folded(v):
    total = 0.0
    for x in v:
        total = total + (bent(x) if total < 4 else 0.1 * x)
    return total


def magnitude(x: jax.Array, k: int = 1) -> jax.Array:
    return x * k if x > 0 else -x


class Ramp:
    def __call__(self, x):
        return x if x > 0 else 0.5 * x


@pytest.mark.parametrize("transform", [
    jax.grad, jax.value_and_grad, jax.jacfwd, jax.jacrev, jax.hessian, lambda f: lambda x: jax.jvp(f, (x,), (x,)),
    lambda f: lambda x: jax.vjp(f, x)[1](1.0), lambda f: lambda x: jax.linearize(f, x)[1](x),
])  # fmt: skip
def test_transformations_of_a_helper(form, transform):
    close(form(lambda x: transform(folded)(x if x.sum() < 0 else 2 * x))(X), transform(folded)(2 * X))


def test_functions_in_a_table(form):
    table = {0: bent, 1: magnitude, "grad": jax.grad}

    def f(x, name="grad"):
        for i in range(2):
            x = table[i](x)
        return x, table[name](bent)(x)

    close(form(f)(X[0]), f(X[0]))


@pytest.mark.parametrize("helper", [bent, partial(bent, slope=0.5), lambda x: bent(x, 0.5), Ramp(), Ramp().__call__], ids=lambda h: type(h).__name__)
def test_every_kind_of_callable(form, helper):
    values, slopes = jnp.stack([helper(x) for x in X]), jnp.stack([jax.grad(helper)(x) for x in X])
    close(form(lambda v: (jax.vmap(helper)(v), jax.vmap(jax.grad(helper))(v), jax.lax.map(helper, v)))(X), (values, slopes, values))


def test_bodies_and_branches_of_lax(form):
    step, turn = lambda carry, x: ((carry + x if x > 0 else carry), (carry if carry < 2 else 2.0)), lambda i, y: y + i if i % 2 == 0 else y * 0.5
    small, double = lambda y: False if y > 5 else y < 20, lambda y: y * 2 if y > 1 else y + 0.25

    def f(v):
        loops = jax.lax.scan(step, 0.0, v), jax.lax.fori_loop(0, 6, turn, v[3]), jax.lax.while_loop(small, double, v[2])
        return loops, jax.lax.cond(v[0] > 0, bent, Ramp(), v[4])

    with jax.disable_jit():  # JAX's loops run in Python
        want = f(X)
    close(form(f)(X), want)


@pytest.mark.parametrize("name", ["switch", "odeint", "pure_callback"])
def test_functions_of_jax_that_call_their_arguments(form, name):
    helpers, times, field = [Ramp().__call__, bent], jnp.linspace(0.0, 1.0, 3), lambda y, t, k: -k * y if y > 1 else -0.1 * y
    f, want = {
        "switch": (lambda x: jax.lax.switch(jnp.int32(x > 0), helpers, x), bent(X[4])),
        "odeint": (lambda x: odeint(field, x, times, 2.0), odeint(lambda y, t, k: jnp.where(y > 1, -k * y, -0.1 * y), X[4], times, 2.0)),
        "pure_callback": (lambda x: jax.pure_callback(lambda x: np.float32(x if x > 0 else 0), x, x), X[4]),
    }[name]
    close(form(f)(X[4]), want)


def test_custom_derivatives_and_checkpoint(form):
    block = jax.checkpoint(ag.convert(lambda x: jnp.sin(x) if x.sum() > 0 else jnp.cos(x)), policy=jax.checkpoint_policies.nothing_saveable)
    clipped = jax.custom_vjp(ag.convert(lambda x, low: low if x < low else x))
    clipped.defvjp(ag.convert(lambda x, low: (clipped(x, low), x < low)), ag.convert(lambda below, g: (0.0, 1.0) if below else (10.0 * g, 0.0)))

    @jax.custom_jvp
    @ag.convert
    def root(x):
        y = x
        while abs(y * y - x) > 1e-5 * x:
            y = 0.5 * (y + x / y)
        return y

    def f(v):
        inner = jax.custom_vjp(lambda x: x if x > 0 else 0.0)
        inner.defvjp(lambda x: (inner(x), x), lambda x, g: ((3 * g if x > 0 else -g),))
        slopes = jax.vmap(jax.grad(clipped), (0, None))(v, 0.5) if v.sum() > 0 else v
        return slopes, jax.grad(inner)(v[0]), jax.value_and_grad(root)(v[4]), jax.grad(lambda x: block(block(x)).sum())(v), jax.checkpoint(folded)(v)

    root.defjvps(lambda t, y, x: t / (2 * y))
    twice = jax.grad(lambda x: jnp.cos(jnp.sin(x)).sum())(X)
    close(form(f)(X), (jnp.where(X < 0.5, 0.0, 10.0), jnp.float32(-1), jax.value_and_grad(jnp.sqrt)(X[4]), twice, folded(X)))


def tiled(kernel, v):
    pl = library("jax.experimental.pallas")
    spec = pl.BlockSpec((1,), lambda i: (i,))
    return pl.pallas_call(kernel, out_shape=jax.eval_shape(lambda: v), grid=v.shape, in_specs=[spec], out_specs=spec, interpret=True)(v)


def test_pallas(form):
    pl = library("jax.experimental.pallas")

    def scale(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2.0

    @ag.convert
    def kernel(x_ref, o_ref):
        x, first, steps = x_ref[0], pl.program_id(0) == 0, 0
        while x > 1:
            x, steps = x / 2, steps + 1
        o_ref[0] = x + steps
        if x < 0 and not first:
            return
        o_ref[0] -= 10 if first else 20

    def f(v):
        while v.sum() < 5:
            v = tiled(scale, v)
        return tiled(kernel, v) if v[0] < 0 else tiled(scale, v)

    close(form(f)(X), jnp.array([-18.0, -2.0, -19.0, -17.0, -15.25]))


def test_a_loop_that_tests_and_changes_a_reference(form):
    def f(x):
        r, n = jax.new_ref(x), 0
        while r[...] > 1 and n < 20:
            r[...], n = r[...] / 2, n + 1
        return r[...]

    right_or_refused(lambda: form(f)(jnp.float32(9)), f(jnp.float32(9)))


def gated():
    eqx = library("equinox")

    class Plain(eqx.Module):
        w: jax.Array

        def gate(self, x):
            return x * self.w if x.sum() > 0 else -x

        def __call__(self, x):
            for _ in range(3):
                x = self.gate(x) if x[0] < 1 else x + self.w
            return x

    class Gated(Plain):
        gate, __call__, compiled = ag.convert(Plain.gate), ag.convert(Plain.__call__), ag.function(Plain.__call__)
        filtered = eqx.filter_jit(ag.convert(Plain.__call__))

    return Gated(X + 3), Plain(X + 3), eqx


@pytest.mark.parametrize("method", ["__call__", "gate", "compiled", "filtered"])
def test_equinox_decorated_methods(method):
    module, plain, eqx = gated()
    for run in (getattr(module, method), eqx.filter_jit(getattr(module, method)), lambda x: eqx.filter_jit(lambda m: getattr(m, method)(x))(module)):
        close(run(X), plain.gate(X) if method == "gate" else plain(X))


@pytest.mark.parametrize("call", [lambda m, x: type(m).gate(m, x), lambda m, x: m.gate(x), lambda m, x: m(x)], ids=["function", "method", "call"])
def test_equinox_methods_are_converted_when_reached(form, call):
    _, plain, eqx = gated()
    close(form(call)(plain, X), call(plain, X))
    close(eqx.filter_jit(ag.convert(call))(plain, X), call(plain, X))


@pytest.mark.parametrize("returned", [False, True], ids=["loss", "model"])
def test_equinox_training(returned):
    eqx, opt = library("equinox"), library("optax").sgd(0.1)

    def error(m, x):
        return bent(((m(x) - 1) ** 2).mean()) + bent(m(x)[0], 0.0)

    def train(m, x):
        loss, turns, state = jnp.inf, 0, opt.init(eqx.filter(m, eqx.is_array))
        while loss > 0.1 and turns < 30:
            loss, grads = eqx.filter_value_and_grad(error)(m, x)
            updates, state = opt.update(eqx.filter_grad(error)(m, 2 * x) if loss > 1 else grads, state)
            m, turns = eqx.apply_updates(m, updates), turns + 1
        return loss, turns, (m if returned else None)

    mlp = eqx.nn.MLP(5, 5, 8, 2, key=jax.random.key(0))
    for run in (eqx.filter_jit(ag.convert(train)), ag.function(train)):
        close(*([jnp.asarray(a) for a in jax.tree.leaves(out) if eqx.is_array_like(a)] for out in (run(mlp, X), train(mlp, X))))


def linen_net(decorator):
    nn, keys = library("flax.linen"), {"params": jax.random.key(0), "dropout": jax.random.key(1)}

    class Net(nn.Module):
        @nn.compact
        @decorator
        def __call__(self, x):
            seen = self.variable("state", "seen", lambda: jnp.zeros(()))
            h = nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(x))
            for _ in range(3):
                h = h / 2 if abs(h).sum() > 1 else h
            seen.value = seen.value + (1 if h.sum() > 0 else 2)
            return nn.Dense(2)(jnp.tanh(h) if h.sum() > 0 else 0.1 * h)

    return (lambda x: Net().init(keys, x)), (lambda variables, x: Net().apply(variables, x, mutable="state", rngs=keys))


@BOTH
def test_linen_and_optax(form, decorator):
    (init, apply), (plain_init, plain_apply), opt = linen_net(decorator), linen_net(lambda f: f), library("optax").adam(0.1)

    def train(apply, params, state):
        moments, loss, turns = opt.init(params), jnp.inf, 0
        while loss > 0.05 and turns < 9:
            (loss, state), grads = jax.value_and_grad(lambda p: ((out := apply({"params": p, **state}, X))[0].var(), out[1]), has_aux=True)(params)
            if turns % 4 != 3:
                updates, moments = opt.update(grads, moments, params)
                params = jax.tree.map(jnp.add, params, updates)
            turns += 1
        return params, state, loss, jnp.asarray(turns)

    params, state = (variables := plain_init(X))["params"], {"state": variables["state"]}
    close((jax.jit(init)(X), jax.jit(apply)(variables, -X)), (variables, plain_apply(variables, -X)))
    close(form(lambda *args: train(apply, *args))(params, state), train(apply, params, state))


@pytest.mark.filterwarnings("ignore:'.value' [a-z]+ is now:DeprecationWarning")
@pytest.mark.parametrize("where", ["after", "in"])
@pytest.mark.parametrize("compiled", ["linen", "nnx.jit", "ag.function"])
def test_state_of_flax_changed_after_and_in_a_branch(compiled, where):
    nn, nnx = library("flax.linen"), library("flax.nnx")

    @ag.convert
    def add(n, x):
        if where == "after":
            n.value = n.value + x if x > 0 else n.value
        elif x > 0:
            n.value = n.value + x

    class Linen(nn.Module):
        @nn.compact
        def __call__(self, x):
            add(self.variable("state", "n", jnp.zeros, ()), x)

    def run():
        if compiled == "linen":
            return jax.jit(lambda x: Linen().apply({"state": {"n": jnp.float32(1)}}, x, mutable="state"))(jnp.float32(3))[1]["state"]["n"]
        n, step = nnx.Variable(jnp.zeros(())), (nnx.jit if compiled == "nnx.jit" else ag.function)(add)
        return [step(n, jnp.float32(x)) for x in (1, -5, 3)] and n[...]

    right_or_refused(run, jnp.float32(4))


@pytest.mark.parametrize("compiled", ["nnx.jit", "ag.function"])
def test_nnx_training_step(compiled):
    nnx, optax = library("flax.nnx"), library("optax")

    def step(model, opt, x):
        loss, grads = nnx.value_and_grad(lambda m: (m(x) ** 2).sum() if m(x).sum() > 0 else abs(m(x)).sum())(model)
        opt.update(model, jax.tree.map(lambda g: g / 2, grads) if loss > 1 else grads)
        return loss

    def run(step):
        model = nnx.Linear(5, 5, rngs=nnx.Rngs(0))
        opt = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
        return [step(model, opt, X * s) for s in (1, -1, 2)] + [model.kernel[...]]

    right_or_refused(lambda: run((nnx.jit if compiled == "nnx.jit" else ag.function)(ag.convert(step))), run(step))


def test_optax_schedules_and_losses(form):
    optax = library("optax")

    def schedule(step):
        if step < 3:
            return 0.1 * (step + 1)
        return 0.2 if step < 6 else 0.05

    def train(w, x):
        for opt in optax.inject_hyperparams(optax.sgd)(learning_rate=schedule), made_outside:
            state, turns, w = opt.init(w), 0, -w
            while bent(abs(w - x).sum()) > 0.1 and turns < 9:
                updates, state = opt.update(jax.grad(lambda w: bent(((w - x) ** 2).sum()))(w), state, w)
                w, turns = optax.apply_updates(w, updates), turns + 1
        return w

    made_outside = optax.sgd(ag.convert(schedule))
    close(form(train)(X / 2, X), train(X / 2, X))
    made_outside = optax.sgd(schedule)
    close(form(train)(X / 2, X), train(X / 2, X))


@pytest.mark.parametrize("decorator", [ag.function, ag.convert, lambda f: f], ids=["function", "convert", "reached"])
def test_diffrax(form, decorator):
    diffrax = library("diffrax")

    def solve(field, y):
        return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 2.0, 0.05, y, args=2.0).ys[0]

    vector_field = decorator(lambda t, y, k: -k * y if y > 1 else -0.1 * y)
    close(form(lambda y: solve(vector_field, y) if y > 0 else y)(2.0), solve(lambda t, y, k: jnp.where(y > 1, -k * y, -0.1 * y), 2.0))


def test_optimistix_and_lineax(form):
    optimistix, lineax, residual = library("optimistix"), library("lineax"), lambda y, a: y**2 - a if y > 0.1 else y - 1.0

    def f(a):
        operator = lineax.FunctionLinearOperator(lambda v: 2 * v if a > 0 else v, jax.eval_shape(lambda: X))
        root = optimistix.root_find(residual, optimistix.Newton(1e-6, 1e-6), jnp.float32(2), args=a).value
        return (root if root > 1 else -root), lineax.linear_solve(operator, X, lineax.GMRES(1e-6, 1e-6)).value

    close((form(f)(9.0), jax.grad(lambda a: form(f)(a)[0])(9.0)), ((jnp.float32(3), X / 2), jnp.float32(1 / 6)))


def wrapper_of(name):
    if hasattr(jax, name):
        return getattr(jax, name)
    check = library("beartype").beartype
    return check if name == "beartype" else library("jaxtyping").jaxtyped(typechecker=check)


@BOTH
@pytest.mark.parametrize("name", ["beartype", "jaxtyping"])
def test_above_the_wrapper_of_a_library_is_an_error(name, decorator):
    with pytest.raises(ag.ConversionError, match="(?s)AG104.*put this decorator below"):
        decorator(wrapper_of(name)(magnitude))


@pytest.mark.parametrize("name", ["checkpoint", "vmap", "grad", "jacrev", "hessian", "jit"])
def test_above_what_a_transformation_of_jax_gives(name):
    transformed, x = getattr(jax, name)(magnitude), X if name == "vmap" else X[4]
    want = getattr(jax, name)(ag.convert(magnitude))(x)
    close([ag.function(transformed)(x), jax.jit(ag.convert(transformed))(x), ag.function(lambda x: transformed(x))(x)], [want] * 3)


@BOTH
@pytest.mark.parametrize("name", ["beartype", "jaxtyping"])
def test_below_a_type_checker(name, decorator):
    f = wrapper_of(name)(decorator(magnitude))
    close([f(X[4]), jax.jit(f)(X[0]), ag.function(lambda x: f(x, 2) + f(-x))(X[4])], [jnp.float32(v) for v in (3, 2, 9)])
    with pytest.raises(Exception, match="(?i)type.?check|violates type hint"):
        f("no array")


def test_a_callee_behind_a_wrapper_is_named():
    wrapped = wrapper_of("beartype")(magnitude)
    with pytest.raises(ag.AutographError, match="(?s)AG501.*`magnitude`.*`@ag.convert`"):
        ag.function(lambda x: wrapped(x) + 1)(1.0)


def test_a_callee_in_the_closure_of_a_wrapper_is_converted():
    wrapped = wrapper_of("jaxtyping")(magnitude)
    close(ag.function(lambda x: wrapped(x) + 1)(1.0), jnp.asarray(ag.convert(magnitude)(1.0) + 1))


def test_objects_that_are_called_are_converted_where_jax_calls_them():
    """Each is an object of its own: JAX remembers what it has traced of one."""
    helper = Ramp()

    def f(v):
        return jax.lax.map(helper, v), jax.jit(helper)(v[0])

    close(ag.convert(f)(X), (jnp.stack([Ramp()(x) for x in X]), Ramp()(X[0])))

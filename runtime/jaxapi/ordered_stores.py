"""Stores of a loop's body in the order in which XLA can make them in place.

    u[i] = v[i]; v[i] = 0        swaps, buffers that are read and cleared, and the way back through each loop that stores

The body reads an item, uses it elsewhere, and stores into the same array.  XLA's compiler for the CPU joins the read with its use, finds nothing that
orders it before the store, and copies the array in each iteration.  Three primitives say the order:

    hold  (read, *where)               -> read           what is read, as a value of its own
    put   (array, new, *where, *after) -> array          the store, which comes after what is `after`
    take  (array, *where)              -> array, items   the items at a place, and the array with zeros there

`hold` and `put` compute what JAX's reads and stores do, on every platform; with `now=False` they order nothing until they are differentiated.
`put` and `take` are each other's transposes, so that gradients of any order have the same form.  On the CPU `hold` is a conditional, which XLA does
not join with other operations, and the index of a store depends on a zero that a conditional gives of what is read: 5 ns, where a copy of 80,000
items takes 14,000.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.jaxapi.hoisted_reads import LEAST, with_reads_hoisted
from autograph.runtime.jaxapi.private import core
from autograph.runtime.jaxapi.traces import ClosedJaxpr, Literal, Primitive, Var, ad, batching, jaxpr_with, mlir, trace

_MOST_OF_A_CALL = 12  # equations
_BELOW = -7  # no index that hits anything, and no end of a range of numbers that a compiler looks at


class Scattered(NamedTuple):
    """`lax.scatter` of one window."""

    numbers: lax.ScatterDimensionNumbers
    in_order: bool

    def put(self, array: Any, new: Any, where: Sequence[Any]) -> Any:
        return lax.scatter(
            array, where[0], new, self.numbers, indices_are_sorted=self.in_order, unique_indices=True, mode=lax.GatherScatterMode.FILL_OR_DROP
        )

    def get(self, array: Any, shape: tuple[int, ...], where: Sequence[Any]) -> Any:
        n = self.numbers
        single = {*n.inserted_window_dims, *n.operand_batching_dims}
        window = iter(n.update_window_dims)
        numbers = lax.GatherDimensionNumbers(
            n.update_window_dims, n.inserted_window_dims, n.scatter_dims_to_operand_dims, n.operand_batching_dims, n.scatter_indices_batching_dims
        )
        sizes = tuple(1 if k in single else shape[next(window)] for k in range(array.ndim))
        mode = lax.GatherScatterMode.FILL_OR_DROP
        return lax.gather(array, where[0], numbers, sizes, indices_are_sorted=True, unique_indices=True, mode=mode, fill_value=0)


class Sliced(NamedTuple):
    """`lax.dynamic_update_slice`, whose indices are not negative."""

    def put(self, array: Any, new: Any, where: Sequence[Any]) -> Any:
        return lax.dynamic_update_slice_p.bind(array, new, *where)

    def get(self, array: Any, shape: tuple[int, ...], where: Sequence[Any]) -> Any:
        return lax.dynamic_slice_p.bind(array, *where, slice_sizes=shape)


Place = Scattered | Sliced
hold_p, put_p, take_p = Primitive("ag_hold"), Primitive("ag_put"), Primitive("ag_take")
take_p.multiple_results = True


def _hold(read: Any, *where: Any, now: bool) -> Any:
    return read


def _put(array: Any, new: Any, *rest: Any, place: Place, wheres: int, now: bool) -> Any:
    return place.put(array, new, rest[:wheres])


def _take(array: Any, *where: Any, place: Place, shape: tuple[int, ...]) -> list[Any]:
    return [place.put(array, jnp.zeros(shape, array.dtype), where), place.get(array, shape, where)]


# on the CPU


def _is_small(array: Any) -> bool:
    return bool(math.prod(array.shape) * array.dtype.itemsize < LEAST)


def _hits(where: Sequence[Any]) -> Any:
    """True wherever an index may hit something, which XLA does not know.

    Where it is False the index is below -7.  Sound because it may be moved by one there: it stays negative, and nothing is stored, or at the start.
    A loop that stores below the start, and would hit what it must not if it were moved further: `test_places_that_are_out_of_range`.
    """
    return jnp.ravel(where[0])[0] >= _BELOW


def _hold_on_cpu(read: Any, *where: Any, now: bool) -> Any:
    return read if not now else lax.cond(_hits(where), lambda r: r, lax.optimization_barrier, read)


def _put_on_cpu(array: Any, new: Any, *rest: Any, place: Place, wheres: int, now: bool) -> Any:
    where, after = list(rest[:wheres]), rest[wheres:]
    if now and after and not _is_small(array):

        def other(*reads: Any) -> Any:
            return sum(jnp.ravel(r.real)[0].astype(where[0].dtype) for r in reads) & 1

        where[0] += lax.cond(_hits(where), lambda *reads: jnp.zeros((), where[0].dtype), other, *after)
    return place.put(array, new, where)


def _take_on_cpu(array: Any, *where: Any, place: Place, shape: tuple[int, ...]) -> list[Any]:
    items = place.get(array, shape, where)
    if not _is_small(array):
        zero = where[0].dtype.type(0)
        items, more = lax.cond(_hits(where), lambda r: (r, zero), lambda r: (lax.optimization_barrier(r), zero + 1), items)
        where = (where[0] + more, *where[1:])
    return [place.put(array, jnp.zeros(shape, array.dtype), where), items]


# types, differentiation, `jax.vmap`


def _jvp_of_hold(primals: Sequence[Any], tangents: Sequence[Any], *, now: bool) -> tuple[Any, Any]:
    t, where = tangents[0], primals[1:]
    return hold_p.bind(*primals, now=True), t if type(t) is ad.Zero else hold_p.bind(t, *where, now=True)


def _jvp_of_put(primals: Sequence[Any], tangents: Sequence[Any], *, place: Place, wheres: int, now: bool) -> tuple[Any, Any]:
    params = {"place": place, "wheres": wheres, "now": True}
    out = put_p.bind(*primals, **params)
    if all(type(t) is ad.Zero for t in tangents[:2]):
        return out, ad.Zero(jax.typeof(out).to_tangent_aval())
    after = [t for t in tangents[2 + wheres :] if type(t) is not ad.Zero]
    return out, put_p.bind(*map(ad.instantiate_zeros, tangents[:2]), *primals[2 : 2 + wheres], *after, **params)


def _transpose_of_put(ct: Any, array: Any, new: Any, *rest: Any, place: Place, wheres: int, now: bool) -> list[Any]:
    wanted = [ad.is_undefined_primal(x) for x in (array, new)]
    nothing = [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None for x in (array, new, *rest)]
    if type(ct) is ad.Zero:
        return nothing
    shape = (new.aval if wanted[1] else jax.typeof(new)).shape
    found = take_p.bind(ct, *rest[:wheres], place=place, shape=shape) if wanted[0] else [None, place.get(ct, shape, rest[:wheres])]
    return [x if w else None for x, w in zip(found, wanted, strict=True)] + nothing[2:]


def _jvp_of_take(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    out, t = take_p.bind(*primals, **params), tangents[0]
    if type(t) is ad.Zero:
        return out, [ad.Zero(jax.typeof(x).to_tangent_aval()) for x in out]
    return out, take_p.bind(t, *primals[1:], **params)


def _transpose_of_take(cts: Sequence[Any], array: Any, *where: Any, place: Place, shape: tuple[int, ...]) -> list[Any]:
    if all(type(ct) is ad.Zero for ct in cts):
        return [ad.Zero(array.aval)] + [None] * len(where)
    return [put_p.bind(*map(ad.instantiate_zeros, cts), *where, place=place, wheres=len(where), now=True)] + [None] * len(where)


def _define(p: Primitive, compute: Callable[..., Any], on_cpu: Callable[..., Any], types: Callable[..., Any], jvp: Any, transpose: Any) -> None:
    several = p.multiple_results

    @functools.lru_cache(maxsize=512)
    def compiled(**params: Any) -> Any:
        return jax.jit(functools.partial(compute, **params))

    def batch(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = jax.vmap(functools.partial(compute, **params), in_axes=tuple(dims))(*args)
        return (out, [0] * len(out)) if several else (out, 0)

    p.def_impl(lambda *args, **params: compiled(**params)(*args))
    p.def_abstract_eval(types)
    ad.primitive_jvps[p] = jvp
    ad.primitive_transposes[p] = transpose
    batching.primitive_batchers[p] = batch
    mlir.register_lowering(p, mlir.lower_fun(compute, multiple_results=several))
    mlir.register_lowering(p, mlir.lower_fun(on_cpu, multiple_results=several), platform="cpu")


def _strong(aval: Any) -> Any:
    return aval.update(weak_type=False)


_define(
    hold_p, _hold, _hold_on_cpu, lambda read, *_, now: read, _jvp_of_hold,
    lambda ct, read, *where, now: [ct if ad.is_undefined_primal(read) else None] + [None] * len(where),
)  # fmt: skip
_define(put_p, _put, _put_on_cpu, lambda array, *_, place, wheres, now: _strong(array), _jvp_of_put, _transpose_of_put)
_define(
    take_p, _take, _take_on_cpu, lambda array, *_, place, shape: [_strong(array), _strong(array).update(shape=shape)], _jvp_of_take,
    _transpose_of_take,
)  # fmt: skip


# bodies of loops


class _Store(NamedTuple):
    array: Any
    new: Any
    where: Sequence[Any]
    place: Place


def _store(eqn: Any) -> _Store | None:
    """What an equation stores, if it is a store that the primitives here can make."""
    if eqn.primitive is lax.scatter_p:
        array, index, new = eqn.invars
        params = eqn.params
        if params["mode"] != lax.GatherScatterMode.FILL_OR_DROP or len(index.aval.shape) != 1:
            return None
        return _if_plain(_Store(array, new, [index], Scattered(params["dimension_numbers"], params["indices_are_sorted"])))
    if eqn.primitive is lax.dynamic_update_slice_p:
        array, new, *where = eqn.invars
        return _if_plain(_Store(array, new, where, Sliced())) if where else None
    return None


def _if_plain(store: _Store) -> _Store | None:
    """A store of numbers on one device, or as the compiler distributes them, at a traced place; else None."""
    avals = [x.aval for x in (store.array, store.new, *store.where)]
    plain = all(type(a) is core.ShapedArray and a.sharding.mesh.empty and not getattr(a, "vma", None) for a in avals)
    index = store.where[0]
    if not plain or isinstance(index, Literal) or index.aval.dtype not in (np.dtype("int32"), np.dtype("int64")) or not index.aval.size:
        return None
    return store if avals[0].dtype.kind in "fciub" and isinstance(store.array, Var) else None


def ordered(body: ClosedJaxpr) -> ClosedJaxpr:
    """The body of a loop with its stores in order.

    A read comes before a store into the same array if it is used for anything but that store: now, or in a derivative, where what is read is kept for
    the way back.  Sound because a store makes a new array: what is read of the old one is the same, before and after.
    """
    body = with_reads_hoisted(_with_calls_inlined(body))
    if not any(_store(eqn) is not None for eqn in body.jaxpr.eqns):
        return body
    body = _with_stores_late(_with_reads_forwarded(body))
    jaxpr = body.jaxpr
    stores = {k: store for k, eqn in enumerate(jaxpr.eqns) if (store := _store(eqn)) is not None}
    uses: dict[Any, list[int]] = defaultdict(list)
    for k, eqn in enumerate(jaxpr.eqns):
        for x in eqn.invars:
            if isinstance(x, Var):
                uses[x].append(k)
    stored = {jaxpr.eqns[k].outvars[0] for k in stores}  # XLA joins a read with the store before it, too
    results = {x for x in jaxpr.outvars if isinstance(x, Var)}
    after: dict[int, list[Any]] = {}
    held: dict[int, Sequence[Any]] = {}
    now: set[int] = set()
    for k, store in stores.items():
        for n in uses[store.array]:
            if n < k and (where := _reads(jaxpr.eqns[n], store.array)):
                beside = store.array in stored or _is_used_beside(jaxpr.eqns, n, k, uses, results)
                if beside or store.array.aval.dtype.kind in "fc":
                    after.setdefault(k, []).append(jaxpr.eqns[n].outvars[0])
                    held[n] = where
                    now |= {n, k} if beside else set()
    eqns: list[Any] = []
    for k, eqn in enumerate(jaxpr.eqns):
        if k in held:
            read = Var(eqn.outvars[0].aval)
            eqns += [eqn.replace(outvars=[read]), eqn.replace(primitive=hold_p, invars=[read, *held[k]], params={"now": k in now})]
        elif k in stores and (k in after or stores[k].array.aval.dtype.kind in "fc"):
            array, new, where, place = stores[k]
            params = {"place": place, "wheres": len(where), "now": k in now}
            eqns.append(eqn.replace(primitive=put_p, invars=[array, new, *where, *after.get(k, ())], params=params))
        else:
            eqns.append(eqn)
    return jaxpr_with(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)


def _with_reads_forwarded(body: ClosedJaxpr) -> ClosedJaxpr:
    """A body in which an item that is read between two stores into an array is what the first stored, or an item of the array before both.

    XLA makes the first store again in the place where the item is used, and copies the array for that.
    """
    again = {e.invars[0] for e in body.jaxpr.eqns if e.primitive is lax.scatter_p and isinstance(e.invars[0], Var)}
    first = {e.outvars[0]: store for e in body.jaxpr.eqns if e.outvars and e.outvars[0] in again and (store := _store(e)) and _is_of_item(store)}
    if not first:
        return body
    eqns: list[Any] = []
    for eqn in body.jaxpr.eqns:
        eqns += _forwarded(eqn, first)
    return jaxpr_with(body.jaxpr, body.jaxpr.invars, body.jaxpr.outvars, eqns)


def _is_of_item(store: _Store) -> bool:
    array, numbers = store.array.aval, getattr(store.place, "numbers", None)
    return numbers is not None and numbers.scatter_dims_to_operand_dims == tuple(range(len(array.shape))) and not store.new.aval.shape


def _forwarded(eqn: Any, first: dict[Any, _Store]) -> list[Any]:
    """The equations of a read between two stores, of operations that a number of an outer loop may be used in when that is rolled."""
    if eqn.primitive is not lax.dynamic_slice_p or eqn.invars[0] not in first or any(n != 1 for n in eqn.params["slice_sizes"]):
        return [eqn]
    array, new, (index,), _ = first[eqn.invars[0]]

    def read(array: Any, new: Any, index: Any, *starts: Any) -> list[Any]:
        hits = []
        for k, (start, n) in enumerate(zip(starts, array.shape, strict=True)):
            inside = lax.max(lax.min(start, np.asarray(n - 1, start.dtype)), np.asarray(0, start.dtype))
            hits.append(lax.eq(lax.index_in_dim(index, k, keepdims=False), inside.astype(index.dtype)))
        before = lax.dynamic_slice_p.bind(array, *starts, **eqn.params)
        return [lax.select(functools.reduce(lax.bitwise_and, hits), jnp.reshape(new, before.shape), before)]

    operands = [array, new, index, *eqn.invars[1:]]
    jaxpr, _ = trace(read, [x.aval for x in operands])
    made = _inlined(jaxpr, operands, {}, eqn.source_info)
    made[-1] = made[-1].replace(outvars=eqn.outvars)
    return [e for new in made for e in _forwarded(new, first)]


def _with_stores_late(body: ClosedJaxpr) -> ClosedJaxpr:
    """A body whose stores stand behind the reads of what they store into: each where its result is first needed."""
    waiting: dict[Any, Any] = {}  # stores by their results
    eqns: list[Any] = []

    def need(x: Any) -> None:
        if isinstance(x, Var) and x in waiting:
            store = waiting.pop(x)
            for operand in store.invars:
                need(operand)
            eqns.append(store)

    for eqn in body.jaxpr.eqns:
        if _store(eqn) is not None:
            waiting[eqn.outvars[0]] = eqn
            continue
        for x in eqn.invars:
            need(x)
        eqns.append(eqn)
    for x in [*waiting]:
        need(x)
    return body if eqns == body.jaxpr.eqns else jaxpr_with(body.jaxpr, body.jaxpr.invars, body.jaxpr.outvars, eqns)


def _with_calls_inlined(body: ClosedJaxpr) -> ClosedJaxpr:
    """A body in which the equations of functions that JAX has jitted, and that do nothing but read and store, stand themselves."""
    if not any(map(_is_call, body.jaxpr.eqns)):
        return body
    known: dict[Any, Any] = {}
    eqns: list[Any] = []

    for eqn in body.jaxpr.eqns:
        eqn = eqn.replace(invars=[_known(x, known) for x in eqn.invars])
        if not _is_call(eqn):
            eqns.append(eqn)
            continue
        inner = eqn.params["jaxpr"].jaxpr
        eqns += _inlined(inner, eqn.invars, known, eqn.source_info)
        known |= {out: _known(x, known) for out, x in zip(eqn.outvars, inner.outvars, strict=True)}
    return jaxpr_with(body.jaxpr, body.jaxpr.invars, [_known(x, known) for x in body.jaxpr.outvars], eqns)


def _inlined(jaxpr: Any, operands: Sequence[Any], known: dict[Any, Any], source_info: Any) -> list[Any]:
    """The equations of a jaxpr on operands, with results of their own; `known` is told what stands for its variables."""
    known |= dict(zip(jaxpr.invars, operands, strict=True))
    eqns = []
    for eqn in jaxpr.eqns:
        results = [Var(v.aval) for v in eqn.outvars]
        eqns.append(eqn.replace(invars=[_known(x, known) for x in eqn.invars], outvars=results, source_info=source_info))
        known |= dict(zip(eqn.outvars, results, strict=True))
    return eqns


def _known(x: Any, known: dict[Any, Any]) -> Any:
    return x if isinstance(x, Literal) else known.get(x, x)


_MOVING = frozenset({lax.gather_p, lax.scatter_p, lax.dynamic_slice_p, lax.dynamic_update_slice_p})


def _is_call(eqn: Any) -> bool:
    """Whether an equation calls a function that reads or stores, of a few equations that call no other."""
    inner = eqn.params.get("jaxpr") if eqn.primitive.name in ("jit", "pjit") else None
    if inner is None or inner.consts or len(inner.jaxpr.eqns) > _MOST_OF_A_CALL or inner.effects:
        return False
    return any(e.primitive in _MOVING for e in inner.jaxpr.eqns) and not any(map(_has_jaxpr, inner.jaxpr.eqns))


def _has_jaxpr(eqn: Any) -> bool:
    return any(isinstance(p, ClosedJaxpr) for p in eqn.params.values())


def _reads(eqn: Any, array: Any) -> Sequence[Any]:
    """The places that an equation reads of an array, if it reads some items."""
    if eqn.primitive not in (lax.gather_p, lax.dynamic_slice_p) or eqn.invars[0] is not array:
        return ()
    index = eqn.invars[1]
    return () if isinstance(index, Literal) or not index.aval.size or index.aval.dtype.kind != "i" else [index]


def _is_used_beside(eqns: Sequence[Any], read: int, store: int, uses: dict[Any, list[int]], results: set[Any]) -> bool:
    """Whether what is read gets anywhere but through a store."""
    todo, seen = [read], {read, store}
    while todo:
        for x in eqns[todo.pop()].outvars:
            if x in results:
                return True
            for k in uses[x]:
                if k not in seen:
                    if eqns[k].effects:
                        return True
                    seen.add(k)
                    todo.append(k)
    return False

"""Attention: each place of a sequence looks at all places of another (Vaswani et al., 2017, https://arxiv.org/abs/1706.03762)."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import Deferred, value_of
from autograph.runtime.eager.layers.dense import Dropout
from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here


class MultiHeadAttention(Layer):
    """Attention with several heads, called with `query`, `value` and perhaps `key`: arrays of shape (batch, places, features).

    Args:
      num_heads: how many there are.
      key_dim: the length of the vectors that are compared, of each head.
      value_dim: the length of those that are taken; by default the same.
      dropout: the share of what is looked at that is dropped in training.
      use_bias: whether the projections have a bias.
      output_shape: the last axis of the output; by default that of the query.

    The arithmetic is that of `jax.nn.dot_product_attention`.

    >>> import jax.numpy as jnp, autograph as ag
    >>> layer = ag.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    >>> layer(jnp.zeros((3, 8, 16)), jnp.zeros((3, 5, 16))).shape
    (3, 8, 16)
    """

    def __init__(
        self, num_heads: int, key_dim: int, value_dim: int | None = None, dropout: float = 0.0, use_bias: bool = True,
        output_shape: int | None = None, kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros", seed: int | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.num_heads, self.key_dim, self.value_dim, self.use_bias = num_heads, key_dim, value_dim or key_dim, use_bias
        self.dropout, self.output_shape = Dropout(dropout, seed=seed), output_shape
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def __call__(self, query: Any, value: Any = None, key: Any = None, *args: Any, training: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """Look.

        Args:
          query: what looks, of shape (batch, places, features).
          value: what is taken, of shape (batch, other places, features).
          key: what is compared with the query; by default the value.
          attention_mask: true where a place may look at another, of shape (batch, places, other places).
          return_attention_scores: whether these are given too, of shape (batch, heads, places, other places).
          use_causal_mask: whether no place looks at a later one.

        Raises:
          LayerError: (AG708) the shapes do not belong together.
        """
        if value is None:
            raise LayerError(f"`{self.name}` is called with a query only", here(), "give what it looks at too: `layer(x, x)`")
        key = value if key is None else key
        if not any(isinstance(x, Deferred) for x in (query, value, key)):
            query, value, key = (x if isinstance(x, jax.Array) else jnp.asarray(x) for x in map(value_of, (query, value, key)))
            shapes = [x.shape for x in (query, value, key)]
            if any(len(s) != 3 or s[0] != shapes[0][0] for s in shapes) or shapes[1][1] != shapes[2][1]:
                raise LayerError(
                    f"`{self.name}` is given a query, value and key of shapes {', '.join(map(str, shapes))}", here(),
                    "give shape (batch, places, features), with the same places in value and key",
                )  # fmt: skip
            self.build_for(shapes)
        return super().__call__(query, value, key, *args, training=training, **kwargs)

    def build(self, input_shape: Any) -> None:
        query, value, key = input_shape
        self._width = self.output_shape or query[-1]
        of = (("query", query[-1], self.key_dim), ("key", key[-1], self.key_dim), ("value", value[-1], self.value_dim))
        for name, features, size in of:
            self._project(name, (features, self.num_heads, size), (self.num_heads, size))
        self._project("output", (self.num_heads, self.value_dim, self._width), (self._width,))

    def _project(self, name: str, kernel: tuple[int, ...], bias: tuple[int, ...]) -> None:
        setattr(self, f"{name}_kernel", self.add_variable(f"{name}/kernel", kernel, self.kernel_initializer))
        setattr(self, f"{name}_bias", self.add_variable(f"{name}/bias", bias, self.bias_initializer) if self.use_bias else None)

    def _projected(self, name: str, x: Any, equation: str) -> Any:
        kernel, bias = getattr(self, f"{name}_kernel"), getattr(self, f"{name}_bias")
        if x.shape[-1] != kernel.shape[0] and name != "output":
            raise LayerError(
                f"`{self.name}` was built for a {name} of {kernel.shape[0]} features, and is given shape {x.shape}", here(), "make another layer"
            )
        out = jnp.einsum(equation, x, kernel.value)
        return out if bias is None else out + bias.value

    def call(  # type: ignore[override]
        self, query: Any, value: Any, key: Any, attention_mask: Any = None, return_attention_scores: bool = False, use_causal_mask: bool = False,
        training: Any = False,
    ) -> Any:  # fmt: skip
        q, k, v = (self._projected(name, x, "btf,fnh->btnh") for name, x in (("query", query), ("key", key), ("value", value)))
        mask = self._mask(attention_mask, q.shape, k.shape)
        scores = None
        if return_attention_scores or self.key_dim != self.value_dim or self.dropout.rate != 0:
            if use_causal_mask:
                causal = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
                mask = causal if mask is None else mask & causal
            scores = jnp.einsum("btnh,bsnh->bnts", q, k) / math.sqrt(self.key_dim)
            scores = jax.nn.softmax(scores if mask is None else jnp.where(mask, scores, -1e9), -1)
            scores = scores if mask is None else jnp.where(mask, scores, 0.0)
            kept = scores if self.dropout.rate == 0 else self.dropout(scores, training=training)
            out = jnp.einsum("bnts,bsnh->btnh", kept, v)
        else:
            out = jax.nn.dot_product_attention(q, k, v, mask=mask, scale=1.0 / math.sqrt(self.key_dim), is_causal=use_causal_mask)
        out = self._projected("output", out, "btnh,nhf->btf")
        return (out, scores) if return_attention_scores else out

    def _mask(self, mask: Any, query: tuple[int, ...], key: tuple[int, ...]) -> Any:
        """Of shape (batch, heads, places, other places), or with 1 for them."""
        if mask is None:
            return None
        mask = jnp.asarray(mask).astype(bool)
        whole = (query[0], query[2], query[1], key[1])
        shape = (mask.shape[0], 1, *mask.shape[1:]) if mask.ndim == 3 else (1,) * (4 - mask.ndim) + mask.shape
        if len(shape) != 4 or any(m not in (1, n) for m, n in zip(shape, whole, strict=True)):
            wanted = (query[0], query[1], key[1])
            raise LayerError(f"`{self.name}` is given a mask of shape {mask.shape}, which should be {wanted}", here(), "add or remove axes of it")
        return mask.reshape(shape)

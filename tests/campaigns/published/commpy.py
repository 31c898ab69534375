"""scikit-commpy: modulation and channel codes, bits and trellises."""

from __future__ import annotations

from typing import Any

import numpy as np
from commpy import filters, utilities
from commpy.channelcoding import Trellis, conv_encode, viterbi_decode
from commpy.channelcoding.convcode import puncturing
from commpy.modulation import PSKModem, QAMModem, kbest, mimo_ml
from commpy.sequences import pnsequence, zcsequence

from tests.campaigns.published import entry

PACKAGE = "commpy"


def _trellis() -> Any:
    return Trellis(np.array([2]), np.array([[0o5, 0o7]]))


def _channel(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=2) + 1j * rng.normal(size=2), rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2))


ENTRIES = [
    entry("conv_encode", lambda bits: conv_encode(bits, _trellis()), lambda rng: (rng.integers(0, 2, 10),)),
    entry(
        "viterbi_decode, hard",
        lambda bits: viterbi_decode(bits, _trellis(), 5, "hard"),
        lambda rng: (conv_encode(rng.integers(0, 2, 6), _trellis()).astype(float),),
    ),
    entry("viterbi_decode, unquantized", lambda bits: viterbi_decode(bits, _trellis(), 5, "unquantized"), lambda rng: (rng.normal(size=16),)),
    entry("puncturing", puncturing, lambda rng: (rng.integers(0, 2, 8), np.array([1, 1, 0, 1]))),
    entry("PSKModem.modulate", PSKModem.modulate, lambda rng: (PSKModem(4), rng.integers(0, 2, 12))),
    entry(
        "QAMModem.demodulate, hard", lambda m, x: m.demodulate(x, "hard"), lambda rng: (QAMModem(16), rng.normal(size=6) + 1j * rng.normal(size=6))
    ),
    entry(
        "QAMModem.demodulate, soft",
        lambda m, x: m.demodulate(x, "soft", 0.5),
        lambda rng: (QAMModem(4), rng.normal(size=5) + 1j * rng.normal(size=5)),
    ),
    entry("mimo_ml", lambda y, h: mimo_ml(y, h, np.array([1, -1, 1j, -1j])), _channel),
    entry("kbest", lambda y, h: kbest(y, h, np.array([1, -1]), 2), _channel),
    entry("dec2bitarray", lambda n: utilities.dec2bitarray(n, 6), lambda rng: (int(rng.integers(64)),)),
    entry("bitarray2dec", utilities.bitarray2dec, lambda rng: (rng.integers(0, 2, 6),)),
    entry("hamming_dist", utilities.hamming_dist, lambda rng: (rng.integers(0, 2, 6), rng.integers(0, 2, 6))),
    entry("upsample", lambda x: utilities.upsample(x, 3), lambda rng: (rng.normal(size=5),)),
    entry("rcosfilter", lambda a: filters.rcosfilter(15, a, 1.0, 4.0), lambda rng: (rng.random(),)),
    entry("gaussianfilter", lambda a: filters.gaussianfilter(15, a, 1.0, 4.0), lambda rng: (rng.random(),)),
    entry("pnsequence", lambda seed: pnsequence(4, seed, np.array([0, 0, 1, 1]), 12), lambda rng: (np.array([1, *rng.integers(0, 2, 3)]),)),
    entry("zcsequence", lambda u: zcsequence(u, 7), lambda rng: (int(rng.integers(1, 6)),)),
]

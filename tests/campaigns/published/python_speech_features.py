"""python_speech_features: frames, filter banks and cepstra."""

from __future__ import annotations

import python_speech_features as psf
from python_speech_features import sigproc

from tests.campaigns.published import entry

PACKAGE = "python_speech_features"


ENTRIES = [
    entry("mfcc", lambda s: psf.mfcc(s, 4000, nfft=128), lambda rng: (rng.normal(size=800),), rtol=1e-5),
    entry("ssc", lambda s: psf.ssc(s, 4000, nfft=128), lambda rng: (rng.normal(size=800),)),
    entry("get_filterbanks", lambda low: psf.get_filterbanks(6, 128, 4000, low, 1900.0), lambda rng: (50.0 + 100 * rng.random(),)),
    entry("lifter", psf.lifter, lambda rng: (rng.normal(size=(5, 13)),)),
    entry("delta", lambda feat: psf.delta(feat, 2), lambda rng: (rng.normal(size=(7, 3)),)),
    entry("framesig", lambda s: sigproc.framesig(s, 20, 10), lambda rng: (rng.normal(size=100),)),
    entry("deframesig", lambda f: sigproc.deframesig(f, 100, 20, 10), lambda rng: (rng.normal(size=(9, 20)),)),
    entry("logpowspec", lambda f: sigproc.logpowspec(f, 32), lambda rng: (rng.normal(size=(4, 20)),)),
    entry("round_half_up", sigproc.round_half_up, lambda rng: (rng.normal() * 9,)),
]

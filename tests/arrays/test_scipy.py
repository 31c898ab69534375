"""SciPy's functions of traced values give what SciPy gives; what `jax.scipy` has not is an error that names what it has."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats
from scipy import linalg, special, stats
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from scipy.stats import norm

import autograph as ag
from autograph.runtime.errors.errors import NumpyError

P = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])
V = np.array([0.2, 0.5, 0.8])
W = np.array([1.0, 2.0, 4.0, 3.0, 2.5, 0.5])

OF_MATRIX = {
    "inv": lambda a: linalg.inv(a),
    "solve": lambda a: linalg.solve(a, np.ones(3), assume_a="pos"),
    "solve_triangular": lambda a: linalg.solve_triangular(a, V, lower=True),
    "solve of a list": lambda a: linalg.solve(a, [a[0, 0], 1.0, 2.0]),
    "cholesky": lambda a: linalg.cholesky(a, lower=True, check_finite=False),
    "upper": lambda a: linalg.cholesky(a),
    "cho_factor": lambda a: cho_solve(cho_factor(a), np.ones(3)),
    "det": lambda a: linalg.det(a),
    "expm": lambda a: linalg.expm(a * 0.1),
    "eigh": lambda a: linalg.eigh(a)[0],
    "eigvalsh": lambda a: linalg.eigvalsh(a),
    "lu": lambda a: linalg.lu(a)[2],
    "lu_solve": lambda a: linalg.lu_solve(linalg.lu_factor(a), np.ones(3)),
    "qr": lambda a: abs(linalg.qr(a, mode="economic")[1]),
    "svd": lambda a: linalg.svd(a, full_matrices=False)[1],
    "svdvals": lambda a: linalg.svdvals(a),
    "norm": lambda a: linalg.norm(a),
    "pinv": lambda a: linalg.pinv(a),
    "sqrtm": lambda a: np.real(linalg.sqrtm(a)),
    "block_diag": lambda a: linalg.block_diag(a, a * 2),
    "toeplitz": lambda a: linalg.toeplitz(a[0]),
    "polar": lambda a: linalg.polar(a)[1],
    "multivariate normal": lambda a: stats.multivariate_normal.logpdf(np.stack([a[0], a[1]]), np.zeros(3), a),
    "its defaults": lambda a: stats.multivariate_normal.pdf(a[0]),
    "frozen": lambda a: stats.multivariate_normal(np.zeros(3), np.eye(3)).logpdf(a[0]),
    "convolve2d": lambda a: scipy.signal.convolve2d(a, np.ones((2, 2)), mode="same"),
    "map_coordinates": lambda a: scipy.ndimage.map_coordinates(a, [[0.5, 1.0], [0.5, 1.5]], order=1),
}
OF_VECTOR = {
    "gammaln": lambda v: special.gammaln(v),
    "erf": lambda v: special.erf(v) + special.erfc(v * 2) + special.erfinv(v * 0.5),
    "expit": lambda v: expit(v) + special.logit(v),
    "logsumexp": lambda v: special.logsumexp(v) + special.logsumexp(v, axis=0),
    "softmax": lambda v: special.softmax(v) + special.log_softmax(v),
    "xlogy": lambda v: special.xlogy(v, v) + special.xlog1py(v, v) + special.entr(v) + special.rel_entr(v, 0.5) + special.kl_div(v, 0.5),
    "digamma": lambda v: special.digamma(v) + special.polygamma(1, v),
    "beta": lambda v: special.betaln(v, 2.0) + special.betainc(2.0, 3.0, v) + special.gammainc(2.0, v) + special.gammaincc(2.0, v),
    "bessel": lambda v: special.i0(v) + special.i1(v) + special.i0e(v) + special.i1e(v),
    "ndtr": lambda v: special.ndtr(v) + special.ndtri(v) + special.log_ndtr(v),
    "a loop": lambda v: sum(special.gammaln(x + 1.0) for x in v),
    "a number": lambda v: special.erf(v[0]) * 2.0,
    "a list": lambda v: special.expit([v[0], v[1]]),
    "norm": lambda v: norm.logpdf(v) + norm.pdf(v, 1.0, 2.0) + norm.cdf(v, loc=0.5) + norm.ppf(v) + norm.sf(v) + norm.logcdf(v),
    "frozen": lambda v: norm(0.5, 2.0).logpdf(v) + norm(loc=v[0], scale=v[1]).cdf(v),
    "distributions": lambda v: (
        stats.expon.logpdf(v) + stats.gamma.logpdf(v, 2.0) + stats.beta.logpdf(v, 2.0, 3.0) + stats.t.logpdf(v, 4.0) + stats.uniform.pdf(v)
        + stats.laplace.logpdf(v) + stats.cauchy.pdf(v) + stats.logistic.logpdf(v) + stats.chi2.logpdf(v, 3.0) + stats.pareto.logpdf(v + 1.0, 2.0)
    ),
    "discrete": lambda v: stats.poisson.logpmf(2, v) + stats.bernoulli.logpmf(1, v) + stats.binom.logpmf(2, 4, v) + stats.geom.pmf(3, v),
    "rank": lambda v: stats.rankdata(v),
    "trapezoid": lambda v: scipy.integrate.trapezoid(v, dx=0.5),
    "interp1d": lambda v: scipy.interpolate.interp1d(np.arange(6.0), W)(v * 3.0),
    "interp1d of traced": lambda v: scipy.interpolate.interp1d(np.arange(3.0), v * 2.0)(np.array([0.5, 1.25])),
    "extrapolated": lambda v: scipy.interpolate.interp1d(np.arange(3.0), v, fill_value="extrapolate")(np.array([-0.5, 2.5])),
    "filled": lambda v: scipy.interpolate.interp1d(np.arange(3.0), v, bounds_error=False, fill_value=(0.0, 9.0))(np.array([-0.5, 0.5, 2.5])),
    "fft": lambda v: abs(scipy.fft.fft(v)) + scipy.fft.dct(v),
    "convolve": lambda v: scipy.signal.convolve(v, np.array([1.0, 2.0])) [:3] + scipy.signal.fftconvolve(v, np.ones(3), mode="same"),
    "detrend": lambda v: scipy.signal.detrend(v),
    "kde": lambda v: stats.gaussian_kde(W).evaluate(v) if v is None else stats.gaussian_kde(v * 1.0)(np.array([0.1, 0.4])),
    "known": lambda v: special.gammaln(np.arange(3) + 1.0) + v,
    "in a branch": lambda v: special.erf(v) if v[0] > 0 else special.erfc(v),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_MATRIX)
def test_of_a_matrix(name: str) -> None:
    _check(OF_MATRIX[name], P)


@pytest.mark.parametrize("name", OF_VECTOR)
def test_of_a_vector(name: str) -> None:
    _check(OF_VECTOR[name], V)


def _check(f: Any, x: Any) -> None:
    with jax.enable_x64(True):
        expected = f(x)
        for convert in (ag.function, lambda f: jax.jit(ag.convert(f))):
            np.testing.assert_allclose(convert(f)(x), expected, rtol=1e-6, atol=1e-9)


def test_a_minimum() -> None:
    def f(centre: Any) -> Any:
        def loss(x: Any) -> Any:
            return sum((x - centre) ** 2) if centre[0] > 0 else x @ x

        return scipy.optimize.minimize(loss, centre * 0.0, method="BFGS").x

    np.testing.assert_allclose(ag.function(f)(V), V, atol=1e-4)


def test_a_value_outside_of_an_interpolation_is_an_error_as_in_scipy() -> None:
    f = ag.function(lambda v: scipy.interpolate.interp1d(np.arange(3.0), v)(v * 9.0))
    with pytest.raises(ValueError, match="above the interpolation range"):
        f(V)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda a: linalg.logm(a), r"`scipy.linalg.logm` of a traced value has no counterpart in `jax.scipy`"),
        (lambda a: linalg.lstsq(a, np.ones(3)), "`scipy.linalg.lstsq`"),
        (lambda a: scipy.ndimage.gaussian_filter(a, 1.0), "`jax.scipy.ndimage` has `map_coordinates`"),
        (lambda a: scipy.interpolate.CubicSpline(np.arange(3.0), a), "`scipy.interpolate.CubicSpline`"),
        (lambda a: stats.norm.entropy(a), "`scipy.stats.norm.entropy`"),
        (lambda a: linalg.det(a, driver=3), "driver"),
    ],
)
def test_what_is_not_there_is_named(f: Any, said: str) -> None:
    with pytest.raises((NumpyError, TypeError), match=said):
        ag.function(f)(P)

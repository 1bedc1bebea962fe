"""Benchmarks: chains of elementwise operations from finance and signal processing."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Case, uniform, vectors


def axpy(x, y):
    return x * 2.0 + y


def axpy_tuned(x, y):
    two, result = x.dtype.type(2.0), np.empty_like(x)
    for i in range(x.size):
        result[i] = x[i] * two + y[i]
    return result


def chain(x, y):
    return np.sqrt(x * x + y * y) * 0.5 + x - y / 3.0


def chain_tuned(x, y):
    half, three, result = x.dtype.type(0.5), x.dtype.type(3.0), np.empty_like(x)
    for i in range(x.size):
        result[i] = math.sqrt(x[i] * x[i] + y[i] * y[i]) * half + x[i] - y[i] / three
    return result


def horner(x):
    return ((((0.2 * x - 0.7) * x + 1.1) * x - 0.3) * x + 2.5) * x + 1.0


def horner_tuned(x):
    t, result = x.dtype.type, np.empty_like(x)
    a, b, c, d, e, f = t(0.2), t(0.7), t(1.1), t(0.3), t(2.5), t(1.0)
    for i in range(x.size):
        result[i] = ((((a * x[i] - b) * x[i] + c) * x[i] - d) * x[i] + e) * x[i] + f
    return result


def logistic(x, w):
    return 1.0 / (1.0 + np.exp(-(x * w)))


def logistic_tuned(x, w):
    one, result = x.dtype.type(1.0), np.empty_like(x)
    for i in range(x.size):
        result[i] = one / (one + math.exp(-(x[i] * w[i])))
    return result


def black_scholes(spot, strike, years, rate, vol):
    root = vol * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol * vol) * years) / root
    d2 = d1 - root
    discount = strike * np.exp(-rate * years)
    n1 = 1.0 / (1.0 + np.exp(-1.5976 * d1 - 0.07056 * d1 * d1 * d1))
    n2 = 1.0 / (1.0 + np.exp(-1.5976 * d2 - 0.07056 * d2 * d2 * d2))
    call = spot * n1 - discount * n2
    put = discount * (1.0 - n2) - spot * (1.0 - n1)
    return call, put


def black_scholes_tuned(spot, strike, years, rate, vol):
    t = spot.dtype.type
    one, r, s, a, b, drift = t(1.0), t(rate), t(vol), t(1.5976), t(0.07056), t(rate + 0.5 * vol * vol)
    call, put = np.empty_like(spot), np.empty_like(spot)
    for i in range(spot.size):
        root = s * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + drift * years[i]) / root
        d2 = d1 - root
        discount = strike[i] * math.exp(-r * years[i])
        n1 = one / (one + math.exp(-a * d1 - b * d1 * d1 * d1))
        n2 = one / (one + math.exp(-a * d2 - b * d2 * d2 * d2))
        call[i] = spot[i] * n1 - discount * n2
        put[i] = discount * (one - n2) - spot[i] * (one - n1)
    return call, put


def haversine(lat1, lon1, lat2, lon2):
    a = np.sin((lat2 - lat1) / 2.0) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2.0) ** 2
    return 6371.0 * 2.0 * np.arcsin(np.sqrt(a))


def haversine_tuned(lat1, lon1, lat2, lon2):
    two, radius, result = lat1.dtype.type(2.0), lat1.dtype.type(12742.0), np.empty_like(lat1)
    for i in range(lat1.size):
        p, q = math.sin((lat2[i] - lat1[i]) / two), math.sin((lon2[i] - lon1[i]) / two)
        result[i] = radius * math.asin(math.sqrt(p * p + math.cos(lat1[i]) * math.cos(lat2[i]) * q * q))
    return result


def damped(t, amplitude, rate, frequency, phase):
    return amplitude * np.exp(-rate * t) * np.sin(2.0 * np.pi * frequency * t + phase)


def damped_tuned(t, amplitude, rate, frequency, phase):
    k, result = t.dtype.type, np.empty_like(t)
    a, r, w, p = k(amplitude), k(-rate), k(2.0 * np.pi * frequency), k(phase)
    for i in range(t.size):
        result[i] = a * math.exp(r * t[i]) * math.sin(w * t[i] + p)
    return result


def log_returns(price):
    step = np.log(price[1:] / price[:-1])
    return np.exp(np.abs(step)) - 1.0


def log_returns_tuned(price):
    one, result = price.dtype.type(1.0), np.empty(price.size - 1, price.dtype)
    for i in range(result.size):
        result[i] = math.exp(abs(math.log(price[i + 1] / price[i]))) - one
    return result


def limiter(x, gain, low, high):
    y = np.clip(x * gain, low, high)
    y += 0.1 * np.abs(y) * y
    y *= 0.9
    return y


def limiter_tuned(x, gain, low, high):
    t, y = x.dtype.type, np.empty_like(x)
    g, a, b, tenth, most = t(gain), t(low), t(high), t(0.1), t(0.9)
    for i in range(x.size):
        v = min(max(x[i] * g, a), b)
        y[i] = (v + tenth * abs(v) * v) * most
    return y


CASES = (
    Case("x * 2.0 + y", axpy, vectors(2), axpy_tuned, passes=3,
         sizes={"L1": 24, "L2/L3": 384 << 10, "memory": 32 << 20},
         expression="x * 2.0 + y"),
    Case("chain with sqrt and division", chain, vectors(2), chain_tuned, passes=3,
         expression="sqrt(x * x + y * y) * 0.5 + x - y / 3.0"),
    Case("polynomial by Horner", horner, vectors(1), horner_tuned, passes=2,
         expression="((((0.2 * x - 0.7) * x + 1.1) * x - 0.3) * x + 2.5) * x + 1.0"),
    Case("logistic function", logistic, vectors(2), logistic_tuned, passes=3, loops=((np.exp, -1.0, 1.0),),
         expression="1.0 / (1.0 + exp(-(x * w)))"),
    Case("Black-Scholes, calls and puts", black_scholes,
         lambda n, d: vectors(2, 80.0, 120.0)(n, d) + (uniform(d, n, low=0.5, high=2.0), 0.03, 0.2),
         black_scholes_tuned),
    Case("haversine distance", haversine, vectors(4), haversine_tuned,
         expression="12742.0 * arcsin(sqrt(sin((lat2 - lat1) / 2.0) ** 2"
                    " + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2.0) ** 2))"),
    Case("damped oscillation", damped, lambda n, d: vectors(1, 0.0, 3.0)(n, d) + (1.5, 0.7, 2.0, 0.3), damped_tuned,
         passes=2, loops=((np.exp, -2.1, 0.0), (np.sin, 0.3, 38.0)),
         expression="amplitude * exp(-rate * t) * sin(6.283185307179586 * frequency * t + phase)"),
    Case("log returns of prices", log_returns, vectors(1, 90.0, 110.0), log_returns_tuned, passes=2,
         loops=((np.log, 0.82, 1.22), (np.exp, 0.0, 0.2))),
    Case("limiter with clip", limiter, lambda n, d: vectors(1)(n, d) + (2.0, -0.8, 0.8), limiter_tuned, passes=2),
)

"""Limiting distribution of a Markov chain with any number of closed classes."""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def settle(rates, mass, limit, home):
    """Compute the limiting distribution of a chain with initial distribution `mass`.

    States are eliminated from the last to the first. The mass and inflow of a state are distributed
    in proportion to its rates (Grassmann, Taksar, Heyman 1985, doi:10.1287/opre.33.5.1107). The
    algorithm has no subtraction, so that even the smallest probabilities are precise. A state
    without remaining outflow is the last of a closed class and keeps the mass of the class.

    Parameters
    ----------
    rates
        float64 [from, to], on any scale; the diagonal is ignored. Overwritten.
    mass
        float64 [state]: the initial distribution. Overwritten.
    limit
        float64 [state]: written.
    home
        int64 [state], written: the first state of the closed class; -1 for a transient state.
    """
    size = rates.shape[0]
    total = np.zeros(size)
    roots = np.empty(size, np.int64)
    count = 0
    for k in range(size - 1, -1, -1):
        home[k] = -1
        for j in range(k):
            total[k] += rates[k, j]
        for r in roots[:count]:
            total[k] += rates[k, r]
        if total[k] == 0.0:
            home[k] = roots[count] = k
            count += 1
            continue
        for j in range(k):
            mass[j] += mass[k] * (rates[k, j] / total[k])
        for r in roots[:count]:
            mass[r] += mass[k] * (rates[k, r] / total[k])
        for i in range(k):
            if rates[i, k] > 0.0:
                share = rates[i, k] / total[k]
                for j in range(k):
                    rates[i, j] += share * rates[k, j]
                for r in roots[:count]:
                    rates[i, r] += share * rates[k, r]

    weight = np.zeros(size)
    for k in range(size):
        limit[k] = 1.0 if home[k] == k else 0.0
        if home[k] != k:
            for j in range(k):
                flow = limit[j] * rates[j, k]
                if flow > 0.0:
                    limit[k] += flow / total[k]
                    home[k] = home[j]
        if home[k] >= 0:
            weight[home[k]] += limit[k]
    for k in range(size):
        if home[k] >= 0:
            limit[k] *= mass[home[k]] / weight[home[k]]

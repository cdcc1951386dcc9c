"""The law of a chain whose states are lists of all jobs, in order of arrival."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve


def listed_law(follow):
    """States that are reached from the empty list, and their probabilities.

    ``follow`` lists what follows upon a state, and at which rates.
    """
    places, states, entries = {(): 0}, [()], []
    for x, jobs in enumerate(states):
        for target, rate in follow(jobs):
            if target not in places:
                places[target] = len(states)
                states.append(target)
            entries.append((x, places[target], rate))
    rows, columns, values = zip(*entries, strict=True)
    moves = sparse.coo_array((values, (rows, columns)), shape=(len(states),) * 2).tocsr()
    generator = (moves - sparse.diags_array(moves.sum(axis=1))).T.tocsc()
    law = np.concatenate([[1.0], spsolve(generator[1:, 1:], -generator[1:, [0]].toarray().ravel())])
    return states, law / law.sum()

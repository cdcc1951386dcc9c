"""What the queues of a tree hold and are guaranteed, and who is stopped: the definition at one moment."""

from __future__ import annotations

from typing import Any

from fairness.machine.compiling import helper
from fairness.policies.hierarchy import filling_state as state
from fairness.policies.hierarchy.tree_arrays import Work

__all__ = ["keep", "reassess", "settle"]

OPEN, SOFT, HARD = 0, 1, 2
"""Nobody is kept from a resource; it is shut while some of it is kept for others; for good."""

NEAR = 1e-11
"""A resource is full, or a guarantee used up, when less than this part of it is left: uses are summed up anew
when guarantees change, in another order than they have grown."""
HALVINGS = 64


@helper()
def find_least(w: Work, v: int) -> float:
    """Bring the children of queue v up to date; its level, and what its child queues do."""
    q = w.queue[v]
    least, q.live, q.changes, q.risers = state.INF, 0, 0, 0
    for k in range(q.first, q.end):
        job = w.job[k]
        if job.state >= state.RISING:
            if job.state == state.RISING:
                job.at = q.level
            least = min(least, job.at)
            q.live += 1
    c = v + 1
    while c < q.last:
        child = w.queue[c]
        if child.status == state.RISING:
            state.follow(w, c)
        if child.live > 0:
            least = min(least, child.share / child.weight)
            q.live += 1
        c = child.last
    if q.live > 0:
        q.level = least
    q.clock, q.stuck = q.level, 0
    c = v + 1
    while c < q.last:
        child = w.queue[c]
        child.since, child.status = q.clock, state.STOPPED
        if child.live > 0:
            child.status = state.status_of(child.share / child.weight, least)
            if child.status == state.RISING:
                q.risers += 1
                q.stuck = 1 if child.slope == 0 else q.stuck
        c = child.last
    return float(least)


@helper()
def settle(w: Work, v: int) -> bool:
    """Sum up queue v from its children; whether what it holds has jumped."""
    least, q = find_least(w, v), w.queue[v]
    for j in range(w.scratch.size):
        cell = w.cell[v, j]
        w.scratch[j] = cell.held
        cell.held, cell.gain, cell.used, cell.growth = 0.0, 0.0, 0.0, 0.0
        cell.promised, cell.promising = 0.0, 0.0
    start, place = 2 * q.offset + q.size, 0
    for k in range(q.first, q.end):
        job = w.job[k]
        rises = 0.0
        if job.state >= state.RISING:
            job.state = state.status_of(job.at, least)
            if job.state == state.RISING:
                job.at = least
                q.risers += 1
            rises = 0.0 if q.stuck else job.rate
        grows = rises if job.state == state.RISING else 0.0
        counted = least if job.state == state.AHEAD and not w.naive else job.at
        gains = grows if w.naive else rises
        for j in range(w.scratch.size):
            cell = w.cell[v, j]
            cell.held += w.measure[k, j] * job.rate * counted
            cell.gain += w.measure[k, j] * gains
            cell.used += w.shares[k, j] * job.rate * job.at
            cell.growth += w.shares[k, j] * grows
        w.keys[start + place] = state.class_key(w, v, k)
        place += 1
    c = v + 1
    while c < q.last:
        child = w.queue[c]
        state.give(w, c)
        part = q.level * child.weight / child.share if child.status == state.AHEAD and not w.naive else 1.0
        for j in range(w.scratch.size):
            cell, below = w.cell[v, j], w.cell[c, j]
            cell.promised += state.covered(below)
            cell.held += below.held - (1.0 - part) * (below.held - state.covered(below))
            cell.used += max(below.used, below.kept)
        state.speeds_above(w, c, 1.0)
        w.keys[start + place] = state.queue_key(w, c)
        place += 1
        c = child.last
    for i in range(q.size - 1, 0, -1):
        at = 2 * q.offset
        w.keys[at + i] = min(w.keys[at + 2 * i], w.keys[at + 2 * i + 1])
    largest, jumped = 0.0, False
    for j in range(w.scratch.size):
        largest = max(largest, w.scratch[j], w.cell[v, j].held)
    for j in range(w.scratch.size):
        jumped = jumped or abs(w.cell[v, j].held - w.scratch[j]) > 10 * state.EQUAL * largest
    return state.plan(w, v) or jumped


@helper()
def reassess(w: Work, top: int) -> bool:
    """Who is stopped or waits below a queue, and what all of them hold; whether that has jumped there."""
    catch_up(w, top)
    stop(w, top)
    while w.guaranteed and claims(w, top):
        top = 0
        catch_up(w, top)
        guarantee(w)
        keep(w)
        stop(w, top)
    jumped = False
    for v in range(w.queue[top].last - 1, top - 1, -1):
        jumped = settle(w, v)
    return jumped


@helper()
def catch_up(w: Work, top: int) -> None:
    """Bring all below a queue up to its clock."""
    for v in range(top, w.queue[top].last):
        q = w.queue[v]
        if v > top and q.status == state.RISING:
            state.follow(w, v)
        for k in range(q.first, q.end):
            if w.job[k].state == state.RISING:
                w.job[k].at = q.level


@helper()
def stop(w: Work, top: int) -> None:
    """Stop the classes below a queue that need what is full there, or above and not kept for them.

    While something is kept for queues below the one where it is full, they wait.
    """
    for v in range(top, w.queue[top].last):
        q = w.queue[v]
        for j in range(w.scratch.size):
            cell = w.cell[v, j]
            above = w.cell[q.parent, j].shut if v > 0 and not cell.lacks else OPEN
            own = OPEN if not cell.full else SOFT if cell.short > 0 else HARD
            cell.shut = max(above, own)
        for k in range(q.first, q.end):
            job, shut = w.job[k], OPEN
            if job.state != state.STOPPED:
                for j in range(w.scratch.size):
                    if w.shares[k, j] > 0:
                        shut = max(shut, w.cell[v, j].shut)
                if shut != OPEN:
                    job.state = state.STOPPED if shut == HARD else state.WAITING


@helper()
def keep(w: Work) -> None:
    """Keep what is guaranteed, or once it is lent the reserves; what counts as used, and who lacks what."""
    for v in range(w.queue[0].last - 1, -1, -1):
        q = w.queue[v]
        for j in range(w.scratch.size):
            cell, claim = w.cell[v, j], w.claim[v, j]
            cell.kept = claim.reserve if w.run[0].lent else claim.guarantee
            cell.used, cell.short = 0.0, 0
            for k in range(q.first, q.end):
                cell.used += w.shares[k, j] * w.job[k].rate * w.job[k].at
            c = v + 1
            while c < q.last:
                cell.used += max(w.cell[c, j].used, w.cell[c, j].kept)
                cell.short += w.cell[c, j].short
                c = w.queue[c].last
            cell.full = 1 if cell.used >= cell.ceiling * (1 - NEAR) else 0
            cell.lacks = 1 if v > 0 and cell.used < cell.kept * (1 - NEAR) else 0
            cell.short += 1 if cell.lacks and cell.kept > claim.reserve else 0
        for k in range(q.first, q.end):
            if w.job[k].state == state.WAITING:
                w.job[k].state = state.AHEAD


@helper()
def claims(w: Work, top: int) -> bool:
    """What is claimed below a queue, whose classes may have stopped, and above it; whether that differs."""
    differs = False
    for v in range(w.queue[top].last - 1, top - 1, -1):
        for j in range(w.scratch.size):
            claim = w.claim[v, j]
            claim.classes = 0.0
            for k in range(w.queue[v].first, w.queue[v].end):
                job = w.job[k]
                if w.shares[k, j] > 0 and job.rate > 0:
                    runs = job.most if job.state != state.STOPPED else job.rate * job.at
                    claim.classes += w.shares[k, j] * runs
        differs = claims_of(w, v) or differs
    while top > 0:
        top = w.queue[top].parent
        differs = claims_of(w, top) or differs
    return differs


@helper()
def claims_of(w: Work, v: int) -> bool:
    """What queue v claims of each resource, by those below it; whether that differs from before."""
    differs = False
    for j in range(w.scratch.size):
        claim = w.claim[v, j]
        before, claim.most = claim.amount, claim.classes
        claim.below, claim.weight, claim.least = 0.0, 0.0, 0.0
        c = v + 1
        while c < w.queue[v].last:
            own = w.claim[c, j]
            claim.most += max(own.most, own.reserve)
            claim.below += own.amount
            claim.weight += own.weight
            claim.least += own.least
            c = w.queue[c].last
        claim.least = max(claim.least, claim.reserve)
        claim.weight = max(claim.weight, claim.minimum)
        wanted = max(min(claim.minimum, claim.most), claim.reserve)
        claim.own = 1 if claim.minimum > 0 and wanted >= claim.below * (1 - state.EQUAL) else 0
        claim.amount = min(max(wanted, claim.below), w.cell[v, j].ceiling)
        differs = differs or abs(claim.amount - before) > NEAR * abs(before)
    return differs


@helper()
def guarantee(w: Work) -> None:
    """What is guaranteed to each queue, by the claims, and what of it is its own."""
    for v in range(w.queue[0].last):
        for j in range(w.scratch.size):
            claim = w.claim[v, j]
            if v == 0:
                claim.guarantee = claim.amount
            level = division(w, v, j) if claim.below > claim.guarantee else state.INF
            c = v + 1
            while c < w.queue[v].last:
                w.claim[c, j].guarantee = part(w.claim[c, j], level)
                c = w.queue[c].last
            w.cell[v, j].free = claim.guarantee if claim.own else 0.0
        if w.plain:
            w.cell[v, 0].free = free_measure(w, v)


@helper()
def part(claim: Any, level: float) -> float:
    """What a queue has of guarantees that are more than there is, at a level."""
    return float(
        claim.amount if level == state.INF else min(max(level * claim.weight, claim.least), claim.amount)
    )


@helper()
def division(w: Work, v: int, j: int) -> float:
    """Level at which the children of queue v have together what is guaranteed to it."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        level, total = 0.5 * (low + high), 0.0
        c = v + 1
        while c < w.queue[v].last:
            total += part(w.claim[c, j], level)
            c = w.queue[c].last
        if total > w.claim[v, j].guarantee:
            high = level
        else:
            low = level
    return low


@helper()
def free_measure(w: Work, v: int) -> float:
    """Of a measure that is none of resources: what any class below queue v has within the guarantees."""
    found = state.INF
    for k in range(w.queue[v].first, w.queue[w.queue[v].last - 1].end):
        job = w.job[k]
        own = state.INF
        for j in range(w.scratch.size):
            share = w.shares[k, j]
            if share > 0 and w.cell[v, j].free > 0:
                own = min(own, w.cell[v, j].free / share * w.measure[k, 0])
        if job.rate > 0:
            found = min(found, own if own < state.INF else 0.0)
    return found if found < state.INF else 0.0

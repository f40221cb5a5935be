"""Views derived from other views: fewer judgments, systems, queries or ranks.

A derived view equals the view of a store with the changed runs and qrels, with three exceptions.
`TrackFacts.highest_grade`, the scale of the judgments, is never lowered. The pool is unchanged if
only the lists change (`condense`, `cut_to`). After `with_pool` the pool is never deeper than
requested.

Every function returns a new view with the arrays of the old view, or with the reason in
`JudgedRanks.lacks` why an array is missing. Views may share arrays, which are read-only.
"""

"""Views made from other views: fewer judgments, systems, queries or ranks.

A derived view is the view of a store into which the changed runs and qrels were read, with three
exceptions. `TrackFacts.highest_grade` stays, since it is the scale of the judgments. A pool stays
that of the whole lists where only the lists are changed (`condense`, `cut_to`). After `with_pool`
the pool is never taken to be deeper than it was asked for.

Every function returns a new view that has the arrays of the old one, or says in
`JudgedRanks.lacks` why it cannot have one of them. Views may share arrays, which are never written
to.
"""

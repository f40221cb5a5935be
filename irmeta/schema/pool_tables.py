"""Tables of runs before they are judged: validation, docs to judge, orders of judging."""

from __future__ import annotations

from irmeta.schema.columns import DOC, MEASURE, QUERY, TRACK, Column, Table

VALIDATED_RUNS = Table(
    "runs",
    ("run",),
    {
        "run": Column("text", "the run, named after its file"),
        "file": Column("text", "path of the file, and the member of an archive"),
        "valid": Column("yes", "whether the file has no error"),
        "errors": Column("big", "errors of the file"),
        "notes": Column("count", "notes on the run"),
        "tag": Column("text", "tag of the run; null: the file has none, or errors", null=True),
        "queries": Column("count", "queries with docs; null: the file has errors", null=True),
        "rows": Column("big", "rows; null: the file has errors", null=True),
    },
    caption="Validity of each run.",
)
RUN_FINDINGS = Table(
    "findings",
    ("run",),
    {
        "run": Column("text", "the run, named after its file"),
        "kind": Column("name", "error: the run is not valid; note: it may not be as intended"),
        "line": Column("big", "line of the file; null: no single line", null=True),
        "value": Column("text", "content of the line, or value of the field", null=True),
        "problem": Column("text", "what is wrong"),
    },
    caption="Errors of runs, the first 20 each, and notes.",
)
RUN_POOL = Table(
    "pool",
    ("query", "doc"),
    {
        "query": QUERY,
        "doc": DOC,
        "depth": Column("count", "smallest rank of the doc in the runs"),
        "retrieved_by": Column("count", "runs that rank the doc within the depth of the pool"),
        "groups": Column("count", "teams of these runs; null: the teams are not known", null=True),
    },
    caption="Docs of a pool without judgments.",
)
NEXT_DOCS = Table(
    "next_docs",
    ("place",),
    {
        "place": Column("count", "place in the order of judging, from 1"),
        "query": QUERY,
        "doc": DOC,
        "depth": Column("count", "smallest rank of the doc in the runs"),
        "retrieved_by": Column("count", "runs that rank the doc within the depth of the pool"),
    },
    caption="Docs to judge next.",
)
_OF_BUDGET = {
    "track": TRACK,
    "measure": MEASURE,
    "order": Column("name", "order of judging; sample: a random sample"),
    "budget": Column("count", "number of judgments, over all queries"),
}
BUDGETS = Table(
    "budgets",
    ("track", "order", "budget"),
    {
        **_OF_BUDGET,
        "draws": Column("count", "draws; 1: chance plays no part"),
        "judged": Column("real", "mean number of judged docs; that of a sample is random"),
        "relevant": Column("real", "share of the relevant docs, mean over draws"),
        "tau": Column("real", "tau-b with the order of systems by all judgments, mean"),
        "kept": Column("real", "share of the pairs significant by all judgments that remain, mean"),
        "false": Column("real", "share of the significant pairs that are not by all, mean"),
        "relevant_low": Column("real", "relevant, reached by the share of draws asked for"),
        "tau_low": Column("real", "tau, reached by that share of draws"),
        "kept_low": Column("real", "kept, reached by that share of draws"),
        "false_high": Column("real", "false, not passed by that share of draws"),
    },
    caption="Orders of judging by the number of judgments.",
)
BUDGET_GOALS = Table(
    "budget_goals",
    ("track", "order"),
    {
        **{name: _OF_BUDGET[name] for name in ("track", "measure", "order")},
        "goal": Column("text", "what is to be reached"),
        "budget": Column("count", "least tried budget that reaches it; null: none", null=True),
        "pool": Column("count", "judged docs of the pool"),
        "reached": Column("count", "draws that reach it at this budget"),
        "draws": Column("count", "draws"),
    },
    caption="Least budgets for a goal.",
)
BUDGET_TEAMS = Table(
    "budget_teams",
    ("track", "order", "budget"),
    {
        **_OF_BUDGET,
        "teams": Column("count", "teams that are left out in turn"),
        "lost_with": Column("real", "mean ranks lost by a team whose docs are in the pool"),
        "lost_without": Column("real", "mean ranks lost by a team whose docs are left out"),
        "bias": Column("real", "lost_without minus lost_with, mean over teams"),
        "low": Column("real", "lower 95 % limit of bias, by Student's t over teams; NaN: below 5"),
        "high": Column("real", "upper limit"),
        "most": Column("real", "most ranks that a run of a left-out team loses"),
    },
    caption="Ranks that teams lose whose docs are left out of the pool.",
)
BUDGET_STOPS = Table(
    "budget_stops",
    ("track", "order", "rule"),
    {
        **{name: _OF_BUDGET[name] for name in ("track", "order")},
        "rule": Column("name", "rule that ends the judging of a query"),
        "chosen_on": Column("text", "tracks that the rule was chosen on; null: as published", True),
        "queries": Column("count", "queries with a relevant doc in the pool"),
        "draws": Column("count", "draws"),
        "erred": Column("real", "share of queries whose recall is below the target, mean of draws"),
        "low": Column("real", "lower 95 % limit of erred, by Wilson's interval over queries"),
        "high": Column("real", "upper limit"),
        "recall": Column("real", "mean share of the query's relevant docs when the rule stops"),
        "judged": Column("real", "mean share of the query's pool that is judged by then"),
    },
    caption="Rules that end judging, and how often they miss the target.",
)

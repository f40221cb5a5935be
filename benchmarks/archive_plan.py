"""Which tracks the made archive has: 76, with 4,302 runs, 5,043 queries and 285 M rows.

The paper prints no list of its tracks. PLAN names 76 that TREC held from 1992 to 2020, with about
the runs, queries and depths that each had, so that the totals are the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

# Track, runs, queries, depth, doc names; the real qrels where TREC's are in the shared folder.
PLAN = """
1992-adhoc 26 50 200 news adhoc.51-100
1993-adhoc 32 50 1000 news adhoc.101-150
1993-routing 38 50 1000 news
1994-adhoc 37 50 1000 news adhoc.151-200
1994-routing 33 50 1000 news
1995-adhoc 33 49 1000 news
1995-routing 26 50 1000 news
1995-spanish 19 25 1000 news
1996-adhoc 61 50 1000 news
1996-chinese 20 28 1000 news
1996-confusion 20 49 100 news
1997-adhoc 74 50 1000 news
1997-chinese 26 26 1000 news
1997-routing 33 47 1000 news
1997-sdr 47 49 100 news
1998-adhoc 103 50 1000 news adhoc.351-400
1998-sdr 43 23 1000 news
1999-adhoc 129 50 1000 news adhoc.401-450
1999-sdr 64 49 1000 news
1999-web-small 44 50 1000 wt web.401-450
2000-web 75 50 1000 wt adhoc.451-550
2000-xlingual 52 25 1000 news
2001-web 77 50 1000 wt
2001-xlingual 45 25 1000 news
2002-arabic 41 50 1000 news trec02ar
2002-named-page 50 150 50 gov
2002-web-distillation 71 49 1000 gov
2003-genomics 49 50 1000 number
2003-hard 68 48 1000 news
2003-robust 78 100 1000 news
2004-genomics 47 50 1000 number
2004-robust 110 249 1000 news
2004-terabyte 70 49 10000 gov2 terabyte04.701-750
2004-web 74 225 1000 gov
2005-enterprise-discussion 57 59 1000 mail
2005-genomics 62 49 1000 number
2005-hard 62 50 1000 news
2005-robust 74 50 1000 news robust05
2005-terabyte 58 50 10000 gov2 terabyte05.751-800
2006-blog 57 50 1000 blog
2006-enterprise-discussion 36 46 1000 mail
2006-genomics 62 28 1000 number
2006-terabyte 80 50 10000 gov2 terabyte06.801-850
2006-terabyte-named-page 43 181 1000 gov2
2007-blog 74 50 1000 blog
2007-enterprise 63 50 1000 mail
2007-genomics 53 36 1000 number
2008-enterprise 56 63 1000 mail
2008-million-query 25 784 100 gov2 prels.mq.10001-20000
2009-web 71 50 1000 clueweb prels.web.1-50
2010-web 56 48 1000 clueweb web.51-100
2011-medical 87 34 1000 number
2011-microblog 120 49 1000 tweet microblog2011
2011-web 37 50 1000 clueweb web.101-150
2012-medical 68 47 1000 number
2012-microblog 90 59 1000 tweet microblog2012
2012-web 28 50 1000 clueweb web.151-200
2013-microblog 71 60 1000 tweet microblog2013
2013-web 34 50 1000 clueweb web.201-250
2014-microblog 67 55 1000 tweet microblog2014
2014-web 30 50 1000 clueweb web.251-300
2015-clinical 73 30 1000 number
2016-clinical 75 30 1000 number
2017-core 75 50 10000 number core17
2017-precision-medicine 85 30 1000 number
2018-core 72 50 10000 hex core18
2018-news 23 50 100 uuid backgroundlinking18
2018-precision-medicine 73 50 1000 number
2019-cast 65 149 1000 marco
2019-deep-docs 38 43 100 marcodoc dl19-doc
2019-deep-passages 37 43 1000 number dl19-passage
2019-news 28 57 100 uuid backgroundlinking19
2020-covid 66 50 1000 cord covid-complete
2020-deep-docs 64 45 100 marcodoc dl20-doc
2020-deep-passages 59 54 1000 number dl20-passage
2020-news 33 49 100 uuid backgroundlinking20
"""
LEAST_RUNS, LEAST_QUERIES = 5, 3
COMMON = 1000  # in deeper tracks half of the runs stop here
LINE = 50  # bytes, about


@dataclass(frozen=True)
class Track:
    """One track of the plan, at some scale."""

    name: str
    runs: int
    queries: int
    depth: int
    docs: str
    qrels: str | None = None

    @property
    def rows(self) -> int:
        """About how many; short lists are evened out."""
        deep = (self.depth + min(self.depth, COMMON)) / 2
        return int(0.9 * self.runs * self.queries * deep)


def plan(scale: float = 1.0) -> list[Track]:
    """The archive's tracks at a scale."""
    tracks = []
    for line in PLAN.split("\n")[1:-1]:
        name, runs, queries, depth, docs, *qrels = line.split()
        whole = Track(name, int(runs), int(queries), int(depth), docs, *qrels)
        kept = {
            "runs": max(LEAST_RUNS, round(whole.runs * scale**0.5)),
            "queries": max(LEAST_QUERIES, round(whole.queries * scale**0.5)),
        }
        tracks.append(replace(whole, **kept))
    return tracks

"""Command lines of the manifest, in the order in which they run, over a copy of data_fixtures."""

from __future__ import annotations

from dataclasses import dataclass

COLLECTION = "data_fixtures/collections"
NEWS = f"{COLLECTION}/news"
WEB = f"{COLLECTION}/web"
TWO = f"{NEWS}/qrels.txt {NEWS}/runs/aldBM25.gz {NEWS}/runs/birchDep.gz"
FORMATS = "data_fixtures/formats"
MADE = "labels/other.txt"
"""Qrels of another judge, which `recording` writes beside the copy."""


@dataclass(frozen=True)
class Line:
    """A command line of the manifest.

    Attributes
    ----------
    words
        The words after ``irmeta``, separated by spaces.
    two
        Also run by two workers, to the same result.
    """

    words: str
    two: bool = False


STUDY = "--no-figures --track web --track news"
LINES = (
    # Stores and whole tracks.
    Line(f"ingest {COLLECTION} --out store", two=True),
    Line("info store"),
    Line("info store --format json"),
    Line(f"info {COLLECTION} --format markdown"),
    Line("check store --format csv"),
    Line(f"pool {NEWS}/runs --pool-depth 3 --system group=alder --format csv"),
    Line(f"validate {NEWS}/runs --max-depth 150 --format json"),
    Line(f"validate {FORMATS}/runs --out letters"),
    Line("reanalyze store --out overview --no-figures", two=True),
    Line("reanalyze store --out overview --no-figures"),
    Line("reanalyze data_fixtures/recommender --out movies --track movies -m AP --formats svg,png"),
    Line("check overview"),
    # Values.
    Line("evaluate store -m AP,nDCG@10,RBP,ASL,RareP@10 --format json", two=True),
    Line("evaluate store -m all_trec --track news --format csv --out all.csv"),
    Line("evaluate store -m alpha_nDCG@10,ERR_IA@10,subtopic_recall@10 --track web --format table"),
    Line("evaluate store -m AP,P@10 --per-query --out queries.parquet", two=True),
    Line("evaluate store -m AP,P@10 --track news --wide --format latex"),
    Line("evaluate store -m map,P_10 --track web --format siunitx --digits 3"),
    Line("evaluate store -m AP,RR --track web --format markdown --sort AP"),
    Line("evaluate store -m nDCG@10 --track news --unjudged --draw run --draws 20"),
    Line("evaluate store -m nDCG@10 --track news --interval bootstrap --format json"),
    Line("evaluate store -m AP --queries retrieved --tie-order trec_eval10 --pool-depth 10"),
    Line(f"evaluate {TWO} -m map,P_10 -q --format trec_eval"),
    Line(f"evaluate {TWO} -m AP@10 --depth 50 --format csv"),
    Line(f"evaluate {FORMATS}/qrels/beir.tsv {FORMATS}/runs/beir.json -m AP --format json"),
    Line(f"trec_eval -q -c -m map -m P.5,10 {NEWS}/qrels.txt {NEWS}/runs/doumMan1.txt"),
    Line(f"trec_eval -m all_trec {NEWS}/qrels.txt {NEWS}/runs/cedarBool.gz"),
    Line("explain store -m AP --system aldDFR --query 901 --track news"),
    Line("explain store -m nDCG@10 --system heronQE --query 301 --track web --format json"),
    Line("explain store -m RPP --system aldDFR --baseline aldBM25 --query 901 --track news"),
    Line("truncation store -m AP,RBP --docs 10 --format json", two=True),
    # Tests of differences and orders.
    Line("compare store -m AP --track news --format json", two=True),
    Line("compare store -m AP,nDCG@10 --track web --baseline heronQE --format latex"),
    Line("compare store -m AP --track web --test permutation --resamples 500 --format markdown"),
    Line("compare overview -m AP --track news --test hsd-randomised --resamples 200 --out hsd.csv"),
    Line("compare store -m AP --track web --robust --unjudged --format table"),
    Line(f"compare {TWO} -m nDCG@10 --max-drop 0.01 --differences drop.svg"),
    Line(f"compare {FORMATS}/values/long.csv -m AP --test wilcoxon --format csv"),
    Line("power store -m AP,P@10 --test t --test hsd --track news --format json", two=True),
    Line("power store -m AP,P@10 --track web --out power.tex"),
    Line("prefer store --track web --rank-resamples 50 --format json", two=True),
    Line("prefer store -m RPP@100 --baseline aldBM25 --track news --out prefer.parquet"),
    Line("prefer store -m lexirecall --by borda --track web --format csv"),
    Line(f"agree {NEWS}/qrels.txt {MADE} --resamples 100 --format json"),
    Line(f"agree {NEWS}/qrels.txt {MADE} --confusion --resamples 50 --format table"),
    Line("reproduce store -m AP,P@10 --original aldBM25 --rerun aldDFR --track news --format json"),
    Line("pool store --track news --budget 20"),
    Line("pool store --track web --pool-depth 3 --out pool.txt"),
    Line("diff all.csv all.csv"),
    Line("evaluate store -m all_trec --track news --tie-order rank --out by_rank.csv"),
    Line("diff all.csv by_rank.csv --format json"),
    # What irmeta knows.
    Line("measures --format csv"),
    Line("measures ndcg_cut_10"),
    Line("measures --for diverse,ordered --length 4"),
    Line("preferences"),
    Line("preferences RPP --format json"),
    Line("catalog --year 1999-2005 --track web --has qrels,runs"),
    Line("catalog trec8/adhoc --format json"),
    Line("fetch trec8/adhoc --dry-run"),
    Line("verify store --track news --published labels/published.csv --format csv"),
    # Studies.
    Line("study"),
    Line(f"study overview store --out o {STUDY}"),
    Line(f"study depth store --out d {STUDY} --k 5 --k 10 --k 100", two=True),
    Line(f"study innovation store --out i {STUDY} --resamples 50 --trials 20 --draws 20", two=True),
    Line(
        f"study judges store --out j {STUDY} --judge other={MADE} --resamples 50 --splits 20",
        two=True,
    ),
    Line(
        f"study preference store --out p {STUDY} --resamples 50 --replicates 3 "
        "--label-replicates 2",
        two=True,
    ),
    Line("study properties --out s --no-figures"),
    Line(f"study search-length store --out l {STUDY} --resamples 5", two=True),
    Line("study trust store --out t --formats svg --track web --resamples 20 --splits 5"),
    Line(f"study trust store --out u {STUDY} --resamples 20 --splits 5 --no-titles", two=True),
    Line("study claims d i p l s"),
    Line("study claims d --per-track --format markdown"),
    # Errors.
    Line("evaluate store -m nDGC@10"),
    Line("evaluate store -m AP --track newz"),
    Line("evaluate store -m AP --system aldBM26"),
    Line("compare store -m AP --alpha 2"),
    Line("compare store -m AP --test students"),
    Line(f"evaluate {NEWS}/qrels.txt {COLLECTION}/passage/runs/nuthFirst.txt -m AP"),
    Line("info data_fixtures/oracles"),
    Line("study depth store --out d --k 0"),
    Line("reanalyze store --out labels"),
    Line("check absent"),
)
"""In this order: later lines read what earlier ones wrote."""

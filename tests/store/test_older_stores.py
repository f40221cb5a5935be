"""Stores written by older versions of irmeta."""

import polars as pl
import pytest

import irmeta
from irmeta.checksums import parse_record, to_json
from support.ingesting import content, states


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "older", [lambda said: int(said.split()[0]), lambda said: said.rpartition(" ")[0]]
)
def test_older_store__readable_and_rewritten_by_ingest(two, store, older):
    states(two, store)
    before, means = content(store), irmeta.open_store(store).means("AP")
    runs = irmeta.open_store(store).runs().collect()
    for file in (store / "tracks").iterdir():
        found = parse_record(file.read_bytes())
        found["files"] = {name: older(said) for name, said in found["files"].items()}
        file.write_bytes(to_json(found))
    assert irmeta.open_store(store).runs().collect().equals(runs)
    assert irmeta.open_store(store).means("AP").equals(means)
    assert states(two, store) == {"a": "written", "b": "written"}
    assert content(store) == before


def test_older_store__missing_column_reads_as_null(two, store, tmp_path):
    """The first stores have no column `tag`, and `skip_reason` is called `set_aside`."""
    states(two, store)
    file = store / "systems" / "a" / "part-0.parquet"
    older = pl.read_parquet(file).drop("tag").rename({"skip_reason": "set_aside"})
    older.write_parquet(file)
    record = store / "tracks" / "a.json"
    found = parse_record(record.read_bytes())
    sizes = {name: int(said.split()[0]) for name, said in found["files"].items()}
    sizes |= {name: file.stat().st_size for name in sizes if name.startswith("systems")}
    found["set_aside"] = found.pop("skipped_runs")
    record.write_bytes(to_json(found | {"files": sizes}))
    later = irmeta.open_store(store)
    assert later.info("a")["skipped_runs"].item() == 0
    assert later.means("AP", track="a").height == later.systems("a").height
    assert later.systems("a")["tag"].null_count() == later.systems("a").height
    assert later.systems().columns == later.systems("b").columns
    assert later.reader.track("a").table("systems").collect().equals(later.systems("a"))

"""Real qrels files are read in the format that the catalogue's choices name."""

from __future__ import annotations

from pathlib import Path

import pytest

from irmeta.archive.catalog import choices
from irmeta.trec.qrels import QrelsFormat, parse_qrels
from irmeta.trec.streams import InputFile

# By the folder of a task: files and the number of their queries, in the order of the sets.
FILES = {
    "trec2-adhoc": {"adhoc.101-150": 50},
    "trec3-adhoc": {"adhoc.151-200": 50},
    "trec7-adhoc": {"adhoc.351-400": 50},
    "trec8-adhoc": {"adhoc.401-450": 50},
    "trec8-web": {"web.401-450": 50},
    "trec14-robust": {"robust05": 50},
    "trec13-terabyte": {"terabyte04.701-750": 49},
    "trec14-terabyte-adhoc": {"terabyte05.751-800": 50},
    "trec15-terabyte-adhoc": {"terabyte06.801-850": 50},
    "trec16-million-query": {"prels.mq.1-10000": 1778},
    "trec18-web": {"prels.web.1-50": 50, "web-2009.diversity": 50},
    "trec19-web": {"web.51-100": 48, "web-2010.diversity": 48},
    "trec20-web": {"web.101-150": 50, "web-2011.diversity": 50},
    "trec22-web": {"web.201-250": 50, "web.201-250.ndeval": 50},
    "trec23-web": {"web.251-300": 50, "web.251-300.ndeval": 50},
    "trec20-microblog": {"microblog2011": 49},
    "trec21-microblog": {"microblog2012": 59},
    "trec22-microblog": {"microblog2013": 60},
    "trec23-microblog": {"microblog2014": 55},
    "trec26-core": {"core17": 50},
    "trec27-core": {"core18": 50},
    "trec27-news-background": {"backgroundlinking18": 50},
    "trec28-news-background": {"backgroundlinking19": 57},
    "trec28-deep-docs": {"dl19-doc": 43},
    "trec28-deep-passages": {"dl19-passage": 43},
    "trec29-deep-docs": {"dl20-doc": 45},
    "trec29-deep-passages": {"dl20-passage": 54},
    "trec30-deep-docs": {"dl21-doc": 57},
    "trec30-deep-passages": {"dl21-passage": 53},
    "trec31-neuclir-fas": {"neuclir22-fa": 46},
    "trec31-neuclir-rus": {"neuclir22-ru": 45},
    "trec31-neuclir-zho": {"neuclir22-zh": 49},
}


@pytest.mark.real
def test_choices__real_files_have_the_chosen_format(shared: Path) -> None:
    for folder, files in FILES.items():
        track = "/".join(folder.split("-")[:2]).replace("million", "million-query")
        (task,) = (one for one in choices(track).tasks if one.folder == folder)
        for (name, queries), chosen in zip(files.items(), task.sets, strict=False):
            by_subtopic = chosen.format == "subtopics"
            form: QrelsFormat = "trec" if chosen.format == "subtopics" else chosen.format
            file = InputFile.at(shared / "qrels" / f"{name}.txt.gz", name)
            frame = parse_qrels(file, form, subtopics=by_subtopic).frame
            assert frame["query"].n_unique() == queries, name
            assert (frame["subtopic"].n_unique() > 1) == by_subtopic, name

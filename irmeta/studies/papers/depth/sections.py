def sections(tables, options):
    return []


def track_section(tables, options, track):
    from irmeta.studies.framework.study import Section

    return Section(track)

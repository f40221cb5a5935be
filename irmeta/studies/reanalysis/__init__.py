"""The study `overview`: the results of `irmeta.reanalyze`."""

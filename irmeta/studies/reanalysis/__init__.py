"""The study `overview`: what `irmeta.reanalyze` computes of every track."""

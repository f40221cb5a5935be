"""The study of trust: which measure, depth and conclusions are reliable on a track."""

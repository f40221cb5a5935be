"""The study of Alex, Hall and Metzler 2022, Atomized Search Length."""

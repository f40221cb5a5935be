"""The study of paper 1: Alex, Hall and Metzler 2022, Atomized Search Length."""

"""Running a study over the tracks of a store: skip what is finished, survive what fails."""

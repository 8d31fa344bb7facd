package core

import "mlframework/sweep/space"

// Source is where the points of a sweep's tasks come from; the grid of a record is one. Tasks have
// ordinals, their position in the sweep from 0, and indexes, by which the store, workers and people
// know them. A Source does not change: a sweep that is revised or extended gets another.
type Source interface {
	// At returns the index of the task with an ordinal, however many tasks the sweep has.
	At(ordinal int64) (index int64)
	// Ordinal is the inverse of At. It returns false if no task can have the index.
	Ordinal(index int64) (ordinal int64, ok bool)
	// Point returns what an attempt of a task gets: its arguments behind those of the command, and
	// its parameters. It panics if no task can have the index.
	Point(index int64) (args []string, parameters []space.Assignment)
}

// Source returns where the points of the record's tasks come from.
func (r Record) Source() Source { return grid{r.Ranges, r.Points()} }

// grid is the Source of all combinations that a record's spaces describe, or of those in ranges.
type grid struct {
	Ranges
	points *Points
}

func (g grid) Point(index int64) ([]string, []space.Assignment) {
	parameters := g.points.Given(index)
	return g.points.Flags(make([]string, 0, len(parameters)), index), parameters
}

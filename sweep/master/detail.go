package master

import "slices"

// Detail is how much of a sweep somebody is told. Each holds the ones before it. The zero value is none.
type Detail string

const (
	Counts Detail = "counts" // how the sweep stands
	Tasks  Detail = "tasks"  // the tasks that change
	Output Detail = "output" // what the tasks print
)

// Details are all of them, the least first.
var Details = []Detail{Counts, Tasks, Output}

// Tasks tells whether it holds the tasks that change, and Output whether it holds what they print.
func (d Detail) Tasks() bool  { return d.holds(Tasks) }
func (d Detail) Output() bool { return d.holds(Output) }

// holds tells whether it is at least so much.
func (d Detail) holds(least Detail) bool {
	return slices.Index(Details, d) >= slices.Index(Details, least)
}

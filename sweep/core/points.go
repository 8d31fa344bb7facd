package core

import (
	"mlframework/sweep/space"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Points are the points of a record's spaces by the indexes of their tasks. They are immutable and
// safe for concurrent use. Methods panic if the sweep cannot have a task with an index.
type Points struct {
	onlyFirst bool // every task is the first point
	spaces    []*space.Space
	flags     []*space.Flags // of each of them

	command      []string // of the recipe
	placeholders bool     // names of parameters in the command
}

// Points returns the points of the record's tasks. All tasks of a sweep that runs once on every
// worker are the first point.
func (r Record) Points() *Points {
	p := &Points{onlyFirst: len(r.Workers) > 0, spaces: r.Spaces(), command: r.Recipe.Command,
		placeholders: len(r.Recipe.ParameterNames()) > 0}
	for _, s := range p.spaces {
		p.flags = append(p.flags, s.Flags(r.Style, r.Recipe.NoArguments()...))
	}
	return p
}

// Spaces returns the record's spaces in the order of their tasks' indexes.
func (r Record) Spaces() []*space.Space { return append([]*space.Space{r.Space}, r.Extensions...) }

// locate returns which of the spaces has the point of a task, and its position there.
func (p *Points) locate(index int64) (in int, point int64) {
	if p.onlyFirst {
		return 0, 0
	}
	for in < len(p.spaces)-1 && index >= p.spaces[in].Len() {
		index -= p.spaces[in].Len()
		in++
	}
	return in, index
}

// Flags appends the flags of a task to dst.
func (p *Points) Flags(dst []string, index int64) []string {
	in, point := p.locate(index)
	return p.flags[in].Append(dst, point)
}

// CommandLine appends the command line of a task to dst, without what depends on where it runs (see
// task.KeyOf). The arguments of the recipe's command come first, as many as there are.
func (p *Points) CommandLine(dst []string, index int64) []string {
	if !p.placeholders {
		return p.Flags(append(dst, p.command...), index)
	}
	parameters := p.Given(index)
	for _, argument := range p.command {
		dst = append(dst, task.BindParameters(argument, parameters))
	}
	return p.Flags(dst, index)
}

// Given returns the parameters of a task as its program gets them, in the order of the file.
func (p *Points) Given(index int64) []space.Assignment {
	in, point := p.locate(index)
	return p.spaces[in].Point(point)
}

// Parameters returns the parameters of a task for tables of results, in the order of the file.
func (p *Points) Parameters(index int64) table.Parameters {
	assigned := p.Given(index)
	all := make(table.Parameters, len(assigned))
	for i, a := range assigned {
		all[i] = table.Parameter{Name: a.Name, Value: a.Value}
	}
	return all
}

// Dimension returns which value of a parameter each task has. The first value of each space is that
// of tasks without the parameter, whether there are any or not.
func (p *Points) Dimension(parameter string) table.Dimension {
	type part struct {
		of    space.Column
		has   bool
		first int64 // number of the first value
	}
	parts, values := make([]part, len(p.spaces)), int64(0)
	for i, s := range p.spaces {
		parts[i].first = values
		if parts[i].of, parts[i].has = s.Column(parameter); parts[i].has {
			values += parts[i].of.Len()
		}
		values++
	}
	return table.Dimension{
		Values: values,
		At: func(index int64) int64 {
			in, point := p.locate(index)
			if of := parts[in]; of.has {
				return of.first + 1 + of.of.At(point)
			}
			return parts[in].first
		},
		Value: func(n int64) (string, bool) {
			in := len(parts) - 1
			for parts[in].first > n {
				in--
			}
			if n -= parts[in].first; n == 0 {
				return "", false
			}
			return parts[in].of.Value(n - 1).Value, true
		},
	}
}

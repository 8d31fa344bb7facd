package core

import (
	"iter"

	"mlframework/sweep/space"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Points are what a sweep's tasks are. They are immutable and may be used concurrently.
type Points struct {
	same   bool // every task is the first point
	spaces []*space.Space
	flags  []*space.Flags // of each of them

	command []string // as the recipe has it
	named   bool     // it has names of parameters in braces
}

// Points prepares what the record's tasks are. All tasks of a sweep for every worker are the first point.
func (r Record) Points() *Points {
	named := r.Recipe.ParameterNames()
	p := &Points{same: len(r.Workers) > 0, spaces: r.spaces(), command: r.Recipe.Command, named: len(named) > 0}
	for _, s := range p.spaces {
		p.flags = append(p.flags, s.Flags(r.Style, named...))
	}
	return p
}

// spaces are those of a record in the order of their tasks' indexes.
func (r Record) spaces() []*space.Space { return append([]*space.Space{r.Space}, r.Extensions...) }

// end is the first index behind spaces.
func end(spaces []*space.Space) (n int64) {
	for _, s := range spaces {
		n += s.Len()
	}
	return n
}

// locate finds the point of an index among the spaces, which follow each other.
func (p *Points) locate(index int64) (in int, point int64) {
	if p.same {
		return 0, 0
	}
	for in < len(p.spaces)-1 && index >= p.spaces[in].Len() {
		index -= p.spaces[in].Len()
		in++
	}
	return in, index
}

// Flags appends the flags of a task to dst. It panics where the sweep cannot have a task of that index.
func (p *Points) Flags(dst []string, index int64) []string {
	in, point := p.locate(index)
	return p.flags[in].Append(dst, point)
}

// CommandLine appends the command line of a task to dst, as it is wherever the task runs: see task.KeyOf. It has the arguments of the
// recipe's command first, as many as there are. It panics where the sweep cannot have a task of that index.
func (p *Points) CommandLine(dst []string, index int64) []string {
	if !p.named {
		return p.Flags(append(dst, p.command...), index)
	}
	of := p.Given(index)
	for _, argument := range p.command {
		dst = append(dst, task.BindParameters(argument, of))
	}
	return p.Flags(dst, index)
}

// CommandLines yields the command lines of the points from, from+1, …, to-1 of the first space. The slice is reused: copy it to
// keep it.
func (p *Points) CommandLines(from, to int64) iter.Seq2[int64, []string] {
	if !p.named {
		return p.flags[0].All(p.command, from, to)
	}
	return func(yield func(int64, []string) bool) {
		var line []string
		for i := from; i < min(to, p.spaces[0].Len()); i++ {
			if line = p.CommandLine(line[:0], i); !yield(i, line) {
				return
			}
		}
	}
}

// Given are a task's parameters as its program gets them. It panics where the sweep cannot have such a task.
func (p *Points) Given(index int64) []task.Parameter {
	in, point := p.locate(index)
	assigned := p.spaces[in].Point(point)
	all := make([]task.Parameter, len(assigned))
	for i, a := range assigned {
		all[i] = Given(a)
	}
	return all
}

// Given is a parameter as a program gets it.
func Given(a space.Assignment) task.Parameter {
	p := task.Parameter{Name: a.Name, Value: a.Value}
	switch {
	case a.Switch:
		p.Kind = task.Switch
	case a.Quoted:
		p.Kind = task.Text
	}
	return p
}

// Parameters are those of one task, in the order of the file. It panics where the sweep cannot have such a task.
func (p *Points) Parameters(index int64) (all table.Parameters) {
	in, point := p.locate(index)
	assigned := p.spaces[in].Point(point)
	all = make(table.Parameters, len(assigned))
	for i, a := range assigned {
		all[i] = table.Parameter{Name: a.Name, Value: a.Value}
	}
	return all
}

// Dimension tells which value of a parameter each task has. The first value of each space is that of tasks which lack the parameter,
// whether there are any or not. It panics where the sweep cannot have a task of an index.
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

package analysis

// Common finds what groups of tasks have in common that others do not: values of columns, such as
// parameters and the host.
type Common struct {
	columns []levels
	tasks   [][]int32 // by column: the level of each task
	groups  []int     // of the tasks; -1: in none
}

// Term is a value of a column.
type Term struct {
	Column int
	Value  string
}

// LeastAlike is how many tasks a group has at least of which Common says anything.
const LeastAlike = 3

// mostTried is how many columns are tried in pairs.
const mostTried = 16

// NewCommon returns a Common of tasks with so many columns.
func NewCommon(columns int) *Common {
	c := &Common{columns: make([]levels, columns), tasks: make([][]int32, columns)}
	for i := range c.columns {
		c.columns[i].index = map[string]int32{}
	}
	return c
}

// Add takes a task: the text of each column, "" where it has none, and the group that it is in; -1:
// in none.
func (c *Common) Add(texts []string, group int) {
	for i, text := range texts {
		c.tasks[i] = append(c.tasks[i], c.columns[i].level(text))
	}
	c.groups = append(c.groups, group)
}

// Where returns the terms, one or two, that together hold at least nine tenths of the tasks of a
// group, and of which at least nine tenths of the tasks that they hold are in the group. One term is
// better than two, then those that agree best with the group, then columns that come first. It is
// nil where there are none, for groups of fewer than LeastAlike tasks, and for one that has nine
// tenths of all tasks.
func (c *Common) Where(group int) []Term {
	size := 0
	for _, g := range c.groups {
		if g == group {
			size++
		}
	}
	if size < LeastAlike || isMost(size, len(c.groups)) {
		return nil
	}
	all := c.shared(group, size)
	held, in := c.count(all, group)
	best, at := 0.0, [2]int{}
	for distance := range len(all) { // 0: single terms
		for i := range len(all) - distance {
			j := i + distance
			h, n := held[i][j], in[i][j]
			agrees := 2 * float64(n) / float64(size+h)
			if isMost(n, size) && isMost(n, h) && agrees > best {
				best, at = agrees, [2]int{i, j}
			}
		}
		if distance == 0 && best > 0 {
			break
		}
	}
	switch {
	case best == 0:
		return nil
	case at[0] == at[1]:
		return all[at[0]:][:1]
	}
	return []Term{all[at[0]], all[at[1]]}
}

// isMost reports whether n is nine tenths of a number or more.
func isMost(n, of int) bool { return 10*n >= 9*of }

// shared returns the terms that nine tenths of a group have each; of a column there is one at most.
func (c *Common) shared(group, size int) (all []Term) {
	for i := range c.columns {
		if len(c.columns[i].texts) == 1 { // as of all tasks
			continue
		}
		counts := make([]int, len(c.columns[i].texts))
		for n, level := range c.tasks[i] {
			if c.groups[n] == group {
				counts[level]++
			}
		}
		for level, n := range counts {
			if text := c.columns[i].texts[level]; isMost(n, size) && text != "" && len(all) < mostTried {
				all = append(all, Term{i, text})
			}
		}
	}
	return all
}

// count counts, for every two terms and for each alone, the tasks that they hold, and those of these
// that are in a group.
func (c *Common) count(terms []Term, group int) (held, in [mostTried][mostTried]int) {
	wanted := make([]int32, len(terms))
	for i, t := range terms {
		wanted[i] = c.columns[t.Column].index[t.Value]
	}
	has := make([]int, 0, len(terms))
	for n, g := range c.groups {
		has = has[:0]
		for i, t := range terms {
			if c.tasks[t.Column][n] == wanted[i] {
				has = append(has, i)
			}
		}
		for a, i := range has {
			for _, j := range has[a:] {
				held[i][j]++
				if g == group {
					in[i][j]++
				}
			}
		}
	}
	return held, in
}

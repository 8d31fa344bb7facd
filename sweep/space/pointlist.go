package space

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// row is one point of an explicit list.
type row struct {
	at      *yaml.Node
	entries []entry
}

// isPoints reports whether the content of a file is an explicit list of points.
func isPoints(top *yaml.Node) bool {
	return top.Kind == yaml.SequenceNode && slices.ContainsFunc(top.Content,
		func(n *yaml.Node) bool {
			return yamlfile.Target(n).Kind == yaml.MappingNode
		})
}

// isJob reports whether the content of a file is {job: {...}, tasks: [{...}, ...]}, as other
// programs have lists of points.
func isJob(top *yaml.Node) bool {
	if top.Kind != yaml.MappingNode || len(top.Content) != 4 {
		return false
	}
	job, tasks := top.Content[1], top.Content[3]
	if top.Content[0].Value == "tasks" {
		job, tasks = tasks, job
	}
	names := []string{top.Content[0].Value, top.Content[2].Value}
	slices.Sort(names)
	return slices.Equal(names, []string{"job", "tasks"}) &&
		yamlfile.Target(job).Kind == yaml.MappingNode &&
		isPoints(yamlfile.Target(tasks))
}

// job returns what a file of that shape has: what is said of all points, and each of them.
func (r *reader) job(top *yaml.Node) (defaults []entry, rows []row) {
	for i := 0; i < len(top.Content); i += 2 {
		if value := yamlfile.Target(top.Content[i+1]); value.Kind == yaml.MappingNode {
			defaults = r.entries(value)
		} else {
			rows = r.rows(value)
		}
	}
	return defaults, rows
}

// rows returns the points of a list.
func (r *reader) rows(list *yaml.Node) (all []row) {
	if list.Tag != "!!seq" && list.Tag != "!!python/list" {
		r.fault(list, "the tag "+list.Tag+" is not known", "remove it")
	}
	for _, element := range list.Content {
		n := yamlfile.Target(element)
		if n.Kind != yaml.MappingNode {
			r.fault(element, describe(n)+" in a list of points is not a point",
				"write a mapping, such as {lr: 0.1, batchsize: 32}")
			continue
		}
		all = append(all, row{element, r.entries(n)})
	}
	return all
}

// list reads an explicit list of points. What a point does not say it has from the defaults of the
// file; else the parameter is absent there.
func (d *draft) list(o outline) {
	if o.rows == nil {
		return
	}
	defaults := slices.Concat(o.defaults, o.completing)
	numbers := map[string]map[string]int64{} // of the values of each parameter
	written := map[string]spellings{}
	read := func(e entry) (p int, n int64, ok bool) {
		if !slices.Contains(d.names, e.Name) {
			d.names = append(d.names, e.Name)
			numbers[e.Name], written[e.Name] = map[string]int64{}, spellings{}
			d.plan.listed.parameters = append(d.plan.listed.parameters, len(d.plan.parameters))
			d.add(e, parameter{name: e.Name})
		}
		v, ok := d.one(e)
		p = d.index[e.Name]
		of := &d.plan.parameters[p]
		n, known := numbers[e.Name][v.identity()]
		if !known && ok {
			d.noteSpelling(e.Value, e.Name, written[e.Name].add(v), v.text)
			n = int64(len(of.values))
			numbers[e.Name][v.identity()], of.values = n, append(of.values, v)
		}
		return p, n, ok
	}
	first := len(o.defaults) // those of a job come first, as they stand first in a command line
	given := map[int]int64{}
	take := func(all []entry) {
		for _, e := range all {
			if p, n, ok := read(e); ok {
				given[p] = n
			}
		}
	}
	take(defaults[:first])
	rows := make([]map[int]int64, len(o.rows))
	for i, row := range o.rows {
		rows[i] = map[int]int64{}
		for _, e := range row.entries {
			if p, n, ok := read(e); ok {
				rows[i][p] = n
			}
		}
	}
	take(defaults[first:])
	for _, row := range rows {
		values := make([]int64, len(d.plan.listed.parameters))
		for column, p := range d.plan.listed.parameters {
			values[column] = absent
			if n, ok := row[p]; ok {
				values[column] = n
			} else if n, ok := given[p]; ok {
				values[column] = n
			}
		}
		d.plan.listed.rows = append(d.plan.listed.rows, values)
	}
	d.forgetUnused()
}

// forgetUnused drops values that only defaults have which every point replaces, and notes
// parameters that have none left.
func (d *draft) forgetUnused() {
	for column, p := range d.plan.listed.parameters {
		of := &d.plan.parameters[p]
		renumbered := make([]int64, len(of.values))
		used := make([]bool, len(of.values))
		for _, row := range d.plan.listed.rows {
			if n := row[column]; n != absent {
				used[n] = true
			}
		}
		var values []value
		for n, v := range of.values {
			renumbered[n] = int64(len(values))
			if used[n] {
				values = append(values, v)
			}
		}
		of.values = values
		for _, row := range d.plan.listed.rows {
			if row[column] != absent {
				row[column] = renumbered[row[column]]
			}
		}
	}
}

// one reads a value where a single one is wanted, once: what is said of a default does not depend
// on how many points have it.
func (d *draft) one(e entry) (value, bool) { return d.once(e, d.single) }

// once reads the value of an entry, unless another entry has that by an alias.
func (d *draft) once(e entry, read func(entry) (value, bool)) (value, bool) {
	v, known := d.singles[e.Value]
	if !known {
		v.value, v.ok = read(e)
		d.singles[e.Value] = v
	}
	return v.value, v.ok
}

func (d *draft) single(e entry) (value, bool) {
	n := yamlfile.Target(e.Value)
	switch {
	case n.Kind == yaml.SequenceNode && isPlainList(n) && len(n.Content) == 1 && nested(n):
		return d.element(entry{Name: e.Name, Key: e.Key, Value: n.Content[0]})
	case n.Kind != yaml.ScalarNode:
		remedy := "write one value here; a point for each of several values"
		if text, ok := jsonOf(n); ok {
			remedy += "; if it is one value, write [" + text + "]"
		}
		d.fault(e.Value, show(e.Name)+": "+yamlfile.KindOf(n)+" in one point", remedy)
		return value{}, false
	case isInterval(n):
		d.fault(e.Value, show(e.Name)+": an interval in one point",
			"write one value here; a point for each of several values; "+
				"write !!str before it if text is meant")
		return value{}, false
	}
	return d.scalar(e, e.Value)
}

// dropRows leaves the first of equal points of the list.
func (d *draft) dropRows(o outline) {
	l := &d.plan.listed
	keys := make([]string, len(l.rows))
	for i, row := range l.rows {
		keys[i] = fmt.Sprint(row)
	}
	l.rows = pick(l.rows, firstOfEqual(keys, func(i, before int) {
		line, _ := d.places.Of(o.rows[before].at.Line, o.rows[before].at.Column)
		d.note(o.rows[i].at, fmt.Sprintf("the point is the same as that on line %d: it is run once",
			line), "")
	}))
}

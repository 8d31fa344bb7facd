package space

import (
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// include reads the points that come first, whatever the rules say. What they do not say they have
// from the defaults, or there is one value of it, or it only repeats. A parameter that a command
// line sets has those values in them, too.
func (d *draft) include(s *Space, o outline) {
	section, given := o.sections.find("include"), o.sections.find("defaults")
	defaults := map[int]entry{}
	for _, e := range o.completing {
		if p, ok := d.lookup(e.Key, e.Name, "defaults"); ok {
			defaults[p] = e
		}
	}
	if section == nil && given != nil && o.rows == nil {
		d.note(given.Key,
			"defaults: nothing uses them; points of include do, and of a list of points", "")
	}
	if section == nil {
		return
	}
	for _, n := range d.elements(*section, "write points, such as {lr: 0.01, unit: 64}") {
		if yamlfile.Target(n).Kind != yaml.MappingNode {
			d.fault(n, "include: "+describe(yamlfile.Target(n))+" is not a point",
				"write a mapping, such as {lr: 0.01, unit: 64}")
			continue
		}
		for _, point := range d.included(s, n, defaults) {
			d.includes = append(d.includes, n)
			s.plan.included = append(s.plan.included, point)
		}
	}
	d.dropIncluded(s)
}

// included reads one element of include: the points that it stands for, none if it has a fault.
func (d *draft) included(s *Space, n *yaml.Node, defaults map[int]entry) [][]int64 {
	ok := true
	point := slices.Repeat([]int64{unknown}, len(d.plan.parameters))
	for _, e := range d.entries(yamlfile.Target(n)) {
		p, known := d.lookup(e.Key, e.Name, "include")
		if known && d.changes[e.Name] {
			point[p] = every
			continue
		}
		v, read := d.one(e)
		if ok = ok && known && read; ok {
			point[p] = d.numberOf(e, &d.plan.parameters[p], v)
		}
	}
	if !ok {
		return nil
	}
	var missing []string
	complete := func(point []int64, p int) {
		of := &d.plan.parameters[p]
		switch e, has := defaults[p]; {
		case point[p] != unknown:
		case has:
			if v, read := d.one(e); read {
				point[p] = d.numberOf(e, of, v)
			} else {
				ok = false
			}
		case slices.Contains(d.plan.listed.parameters, p):
			point[p] = absent
		case of.count() == 1:
			point[p] = 0
		case d.changes[of.name] || slices.Contains(d.plan.repeats, p):
			point[p] = every
		case !slices.Contains(missing, of.name):
			missing = append(missing, of.name)
		}
	}
	points := [][]int64{point}
	for p := range point {
		if d.ruleOf(p) < 0 {
			complete(point, p)
		}
	}
	for p := range point {
		if ok && d.ruleOf(p) < 0 {
			points, ok = d.spread(n, points, p)
		}
	}
	if len(missing) == 0 && ok {
		var determined bool
		points, determined = d.conditions(s, n, points, complete)
		ok = ok && determined
	}
	if len(missing) > 0 {
		d.fault(n, "include: the point does not say "+enumerate(missing, "and"),
			"add "+show(missing[0])+": VALUE to it, or to defaults: as in defaults: {"+
				show(missing[0])+": VALUE}")
	}
	if len(missing) > 0 || !ok {
		return nil
	}
	return points
}

// In place of the number of a value: unknown is that of a parameter of which a point does not say
// whether it has it, every stands for all values of the parameter in turn.
const (
	unknown = -2
	every   = -3
)

// maxSpread is the number of points up to which elements of include stand for several.
const maxSpread = 100_000

// spread replaces points that have every value of a parameter by one for each value.
func (d *draft) spread(n *yaml.Node, points [][]int64, p int) (all [][]int64, ok bool) {
	of := &d.plan.parameters[p]
	for _, point := range points {
		if point[p] != every {
			all = append(all, point)
			continue
		}
		if of.count() > int64(maxSpread-len(all)-len(d.includes)) {
			remedy := "add " + show(of.name) + ": VALUE to it"
			if d.changes[of.name] {
				remedy = "set fewer values of it"
			}
			d.fault(n, fmt.Sprintf("include: with all values of %s there are more than %d points",
				show(of.name), maxSpread), remedy)
			return nil, false
		}
		for v := range of.count() {
			point = slices.Clone(point)
			point[p] = v
			all = append(all, point)
		}
	}
	return all, true
}

// conditions completes points with the parameters that are there only under a condition.
func (d *draft) conditions(s *Space, n *yaml.Node, points [][]int64,
	complete func(point []int64, p int)) (_ [][]int64, ok bool) {
	for i := range s.conditions {
		c := &s.conditions[i]
		for _, point := range points {
			if point[c.parameter] != unknown {
				continue
			}
			if slices.ContainsFunc(c.looks, func(p int) bool { return point[p] == unknown }) {
				return points, true // it has a fault already
			}
			holds, err := c.holds(point, s.valuesOf(point))
			if err != nil {
				var e *ruleError
				if errors.As(s.wrong(c.rule, c.looks, point, err), &e) {
					d.fault(n, "include: "+e.problem, e.remedy)
				}
				return nil, false
			}
			if point[c.parameter] = absent; holds {
				point[c.parameter] = unknown
				complete(point, c.parameter)
			}
		}
		if points, ok = d.spread(n, points, c.parameter); !ok {
			return nil, false
		}
	}
	return points, true
}

// numberOf returns the number of a value of an included point, and notes one that the parameter has
// in another spelling.
func (d *draft) numberOf(e entry, of *parameter, v value) int64 {
	more := len(of.extra)
	n := of.number(v)
	if len(of.extra) == more || v.numeral() == "" {
		return n
	}
	for i := range of.having([]value{v}) {
		d.noteSpelling(e.Value, of.name, of.value(i).text, v.text)
		return n
	}
	for _, w := range of.extra[:more] {
		if w.numeral() == v.numeral() {
			d.noteSpelling(e.Value, of.name, w.text, v.text)
			break
		}
	}
	return n
}

// number returns the number of a value, which the parameter has from now on.
func (p *parameter) number(v value) int64 {
	if p.span != nil {
		if n, ok := p.span.index(v.text); ok && v.kind == "" && p.span.value(n) == v.text {
			return n
		}
	}
	same := func(w value) bool { return w.identity() == v.identity() }
	if i := slices.IndexFunc(p.values, same); i >= 0 {
		return int64(i)
	}
	i := slices.IndexFunc(p.extra, same)
	if i < 0 {
		i = len(p.extra)
		p.extra = append(p.extra, v)
	}
	return p.count() + int64(i)
}

// dropIncluded leaves the first of equal points of include.
func (d *draft) dropIncluded(s *Space) {
	keys := make([]string, len(s.plan.included))
	for i, point := range s.plan.included {
		for p, n := range point {
			if n != absent {
				keys[i] += d.plan.parameters[p].value(n).identity()
			}
			keys[i] += "\x00"
		}
	}
	// by element of include, the point that its first dropped one equals
	first := map[*yaml.Node]int{}
	again := make([]bool, len(keys))
	kept := firstOfEqual(keys, func(i, before int) {
		again[i] = true
		if _, is := first[d.includes[i]]; !is {
			first[d.includes[i]] = before
		}
	})
	d.eachIncluded(again, func(n *yaml.Node, some, of int) {
		if some < of {
			d.note(n, fmt.Sprintf("include: %d of the %d points that this stands for are there "+
				"already: each is run once", some, of), "")
			return
		}
		at := d.includes[first[n]]
		line, _ := d.places.Of(at.Line, at.Column)
		d.note(n, fmt.Sprintf("include: the point is the same as that on line %d: it is run once",
			line), "")
	})
	s.plan.included, d.includes = pick(s.plan.included, kept), pick(d.includes, kept)
}

// noteDoubled notes included points that the combinations have, too.
func (d *draft) noteDoubled(doubled []bool) {
	d.eachIncluded(doubled, func(n *yaml.Node, some, of int) {
		if some < of {
			d.note(n, fmt.Sprintf("include: the combinations have %d of the %d points that this "+
				"stands for, too: each is run once, first", some, of), "")
			return
		}
		d.note(n, "include: the combinations have this point, too: it is run once, first", "")
	})
}

// eachIncluded tells of each element of include how many of its points are marked, if any are.
func (d *draft) eachIncluded(marked []bool, tell func(n *yaml.Node, some, of int)) {
	for i := 0; i < len(d.includes); {
		n, some, of := d.includes[i], 0, 0
		for ; i < len(d.includes) && d.includes[i] == n; i++ {
			if of++; marked[i] {
				some++
			}
		}
		if some > 0 {
			tell(n, some, of)
		}
	}
}

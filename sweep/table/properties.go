package table

import (
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/human"
)

// PropertyKind says what a [Property] is.
type PropertyKind int

// The kinds of properties.
const (
	FieldProperty     PropertyKind = iota // such as "host"
	ParameterProperty                     // of this name
	MetricProperty                        // of this name
)

// Property is what several tasks have under one name, in the order of the tasks.
type Property struct {
	Name   string
	Kind   PropertyKind
	Values []*string // as exact as they are known; nil: the task has none
}

// Differs reports whether tasks have other values than others, or none.
func (p Property) Differs() bool {
	return slices.ContainsFunc(p.Values, func(v *string) bool {
		first := p.Values[0]
		return (v == nil) != (first == nil) || v != nil && *v != *first
	})
}

// Text returns the value of a task; "": it has none.
func (p Property) Text(task int) string {
	if v := p.Values[task]; v != nil {
		return *v
	}
	return ""
}

// Properties returns what tasks have: their parameters, then how they ended, their metrics, and
// where and for how long they ran.
func Properties(rows ...Row) (all []Property) {
	lists := make([]Parameters, len(rows))
	for i := range rows {
		lists[i] = rows[i].Parameters
	}
	field := func(name string, text func(*Row) string) {
		p := Property{Name: name, Values: make([]*string, len(rows))}
		for i := range rows {
			if value := text(&rows[i]); value != "" {
				p.Values[i] = &value
			}
		}
		all = append(all, p)
	}
	all = ParameterProperties(lists...)
	field("revision", func(r *Row) string { return r.Revision })
	field("state", func(r *Row) string { return r.State })
	field("reason", func(r *Row) string { return r.Reason })
	all = append(all, metricProperties(rows)...)
	field("took", func(r *Row) string {
		if r.Duration == nil {
			return ""
		}
		return human.Duration(*r.Duration)
	})
	field("attempts", func(r *Row) string {
		if r.Attempts == 0 {
			return ""
		}
		return strconv.Itoa(r.Attempts)
	})
	field("host", func(r *Row) string { return r.Host })
	field("gpu", func(r *Row) string {
		var names []string
		for _, g := range r.GPUs {
			names = append(names, g.Name)
		}
		return strings.Join(names, ", ")
	})
	return all
}

// ParameterProperties returns the parameters that lists have, each once.
func ParameterProperties(lists ...Parameters) []Property {
	c := collector{kind: ParameterProperty, of: len(lists)}
	for i, list := range lists {
		for _, p := range list {
			c.add(i, p.Name, p.Value)
		}
	}
	return c.all
}

func metricProperties(rows []Row) []Property {
	c := collector{kind: MetricProperty, of: len(rows)}
	for i := range rows {
		for _, m := range rows[i].Metrics {
			c.add(i, m.Name, strconv.FormatFloat(m.Value, 'g', -1, 64))
		}
	}
	return c.all
}

// collector collects properties of a kind, as they come.
type collector struct {
	kind PropertyKind
	of   int // tasks
	all  []Property
	at   map[string]int
}

func (c *collector) add(task int, name, value string) {
	n, known := c.at[name]
	if !known {
		if c.at == nil {
			c.at = map[string]int{}
		}
		n = len(c.all)
		c.at[name] = n
		c.all = append(c.all, Property{Name: name, Kind: c.kind, Values: make([]*string, c.of)})
	}
	c.all[n].Values[task] = &value
}

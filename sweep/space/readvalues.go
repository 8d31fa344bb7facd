package space

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// parameter reads the value of a key: one value, a list, a range or an interval.
func (r *reader) parameter(e entry) (p parameter, ok bool) {
	p.name = e.Name
	n := yamlfile.Target(e.Value)
	switch {
	case n.Kind == yaml.MappingNode && n.Tag != "!!map" && !isRange(n):
		r.unknownTag(e, e.Value)
	case n.Kind == yaml.MappingNode && !isRange(n):
		remedy := "write one value or a list of values"
		if text, ok := jsonOf(n); ok {
			remedy += "; if it is one value, write [" + text + "]"
		}
		if n.Anchor != "" {
			remedy += "; a mapping to merge is written where it is merged, <<: {b: 1}"
		}
		r.fault(e.Value, show(e.Name)+": a mapping is not a value", remedy)
	case isInterval(n):
		p.span, ok = r.interval(e, n)
	case isSpan(n):
		p.span, ok = r.wholeNumbers(e, n)
	case isRange(n), n.Kind == yaml.SequenceNode:
		l, known := r.lists[n]
		if !known {
			if isRange(n) {
				l = r.rangeOf(e, n)
			} else {
				l.values, l.ok = r.list(e, n)
			}
			r.lists[n] = l
		}
		p.values, p.span, ok = l.values, l.span, l.ok
	default:
		var v value
		v, ok = r.scalar(e, e.Value)
		p.values, p.single = []value{v}, true
	}
	return p, ok
}

// isInterval reports whether a value is one by its tag, or is a quoted string that looks like one.
func isInterval(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode && n.Kind != yaml.SequenceNode {
		return false
	}
	if n.Tag == "!interval" || n.Tag == "!!python/tuple" {
		return true
	}
	_, looks := looksLikeInterval(n.Value)
	return looks && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 &&
		n.Style&yaml.TaggedStyle == 0
}

func (r *reader) interval(e entry, n *yaml.Node) (*interval, bool) {
	operands, nodes, ok := r.operands(e, n)
	if !ok {
		return nil, false
	}
	span, troubles := newInterval(operands)
	for _, t := range troubles {
		where := e.Value
		if t.operand >= 0 && t.operand < len(nodes) && e.Value.Kind != yaml.AliasNode {
			where = nodes[t.operand]
		}
		if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 {
			t.remedy += "; write !!str before it if text is meant"
		}
		r.fault(where, show(e.Name)+": "+t.problem, t.remedy)
	}
	if span != nil && n.Style&yaml.TaggedStyle == 0 {
		about := Parameter{p: &parameter{name: e.Name, span: span}}
		r.note(e.Value, "the quoted text is read as an interval, "+about.String(),
			"write !!str before it if text is meant")
	}
	return span, span != nil
}

// operands returns the texts of an interval's elements, and their nodes when they have places of
// their own.
func (r *reader) operands(e entry, n *yaml.Node) (texts []string, nodes []*yaml.Node, ok bool) {
	if n.Kind == yaml.ScalarNode {
		text := strings.TrimSpace(n.Value)
		if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, ")") {
			r.fault(e.Value, show(e.Name)+": "+show(n.Value)+" is not an interval",
				"write [start, end] or [start, end, step]")
			return nil, nil, false
		}
		texts, _ = looksLikeInterval(text)
		return texts, nil, true
	}
	ok = true
	for _, element := range n.Content {
		c := yamlfile.Target(element)
		number := c.Kind == yaml.ScalarNode &&
			(c.Style == 0 || c.Style == yaml.TaggedStyle &&
				(c.Tag == "!!int" || c.Tag == "!!float"))
		if !number {
			r.fault(element, show(e.Name)+": "+describe(c)+" in an interval is not a number",
				"write start, end and step as numbers")
			ok = false
		}
		texts, nodes = append(texts, c.Value), append(nodes, element)
	}
	return texts, nodes, ok
}

func describe(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		return yamlfile.KindOf(n)
	}
	return "the text " + show(n.Value)
}

// isPlainList reports whether a list has no tag of its own.
func isPlainList(n *yaml.Node) bool { return n.Tag == "!!seq" || n.Tag == "!!python/list" }

// list reads the elements of a list, which are single values: a list or a mapping in it is one.
func (r *reader) list(e entry, n *yaml.Node) (values []value, ok bool) {
	if !isPlainList(n) {
		r.unknownTag(e, e.Value)
		return nil, false
	}
	if len(n.Content) == 0 {
		r.fault(e.Value, show(e.Name)+": the list is empty",
			"write at least one value, or remove the parameter")
		return nil, false
	}
	ok = true
	values = make([]value, 0, len(n.Content))
	nodes := make([]*yaml.Node, 0, len(n.Content)) // of the values
	for _, element := range n.Content {
		all, good := r.elements(entry{Name: e.Name, Key: e.Key, Value: element})
		values, ok = append(values, all...), ok && good
		for range all {
			nodes = append(nodes, element)
		}
	}
	if ok {
		r.noteList(e, nodes, values)
	}
	return values, ok
}

// elements reads an element of a list: one value, or the whole numbers FROM..TO.
func (r *reader) elements(e entry) ([]value, bool) {
	n := yamlfile.Target(e.Value)
	if !isSpan(n) {
		v, ok := r.element(e)
		return []value{v}, ok
	}
	span, ok := r.wholeNumbers(e, n)
	if !ok {
		return nil, false
	}
	if span.count > mostRanged {
		r.fault(e.Value, fmt.Sprintf("%s: %s is %d values, and in a list at most %d are read",
			show(e.Name), n.Value, span.count, mostRanged), "write it without a list")
		return nil, false
	}
	values := make([]value, span.count)
	for i := range values {
		values[i].text = span.value(int64(i))
	}
	return values, true
}

func (r *reader) element(e entry) (value, bool) {
	const remedy = "write out its values, or give it a parameter of its own"
	n := yamlfile.Target(e.Value)
	switch {
	case isRange(n):
		r.fault(e.Value, show(e.Name)+": a range inside a list", remedy)
	case isInterval(n) && n.Style&yaml.TaggedStyle == 0:
		r.fault(e.Value, show(e.Name)+": an interval inside a list",
			remedy+"; write !!str before it if text is meant")
	case isInterval(n):
		r.fault(e.Value, show(e.Name)+": an interval inside a list", remedy)
	case n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode:
		return r.nested(e)
	default:
		return r.scalar(e, e.Value)
	}
	return value{}, false
}

// noteList notes equal values, numbers that are written in two ways, and a list of both switches
// and values.
func (r *reader) noteList(e entry, nodes []*yaml.Node, values []value) {
	seen := make(map[value]bool, len(values))
	switches, none, written := 0, 0, spellings{}
	for i, v := range values {
		r.noteSpelling(nodes[i], e.Name, written.add(v), v.text)
		as := v
		switch v.kind {
		case Switch:
			as.text = strings.ToLower(v.text) // True and true are one switch
			switches++
		case Null:
			none++
		case Text: // as flags, 1 and "1" are the same
			as.kind = ""
		}
		if seen[as] && !r.distinct { // else it is told of where the others are dropped
			r.note(nodes[i], show(e.Name)+": the value "+v.show()+
				" is there twice and stays: its combinations run twice", "")
		}
		seen[as] = true
	}
	if switches > 0 && switches+none < len(values) {
		r.note(e.Value,
			show(e.Name)+": the list has switches and values: --"+e.Name+
				" is once alone, once with a value",
			`write "true" and "false" in quotes if they are values`)
	}
}

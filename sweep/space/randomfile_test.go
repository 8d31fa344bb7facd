package space_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// model is a random file, and what it means by the most naive reading: every combination is made,
// and looked at by every rule.
type model struct {
	names    []string
	values   map[string][]string
	zips     [][]string
	rows     []map[string]string // an explicit list instead of the parameters that are in it
	listed   []string
	rules    []string                       // as they stand in the file
	keeps    []func(map[string]string) bool // by rule; what is absent is not in the map
	whens    map[string]func(map[string]string) bool
	ranks    []string // the names in some order, by which conditions look at each other
	included []map[string]string
	repeat   string   // a parameter that only repeats; "": none
	order    []string // of whens, each after those it looks at
	seed     *rand.Rand
}

func (m *model) name() string { return m.names[m.seed.IntN(len(m.names))] }

func newModel(seed uint64) *model {
	m := &model{values: map[string][]string{}, whens: map[string]func(map[string]string) bool{},
		seed: rand.New(rand.NewPCG(seed, 3))}
	for i := range 1 + m.seed.IntN(6) {
		name := string(rune('a' + i))
		m.names = append(m.names, name)
		for n := range 1 + m.seed.IntN(4) {
			m.values[name] = append(m.values[name], fmt.Sprint(n+1))
		}
	}
	for _, i := range m.seed.Perm(len(m.names)) {
		m.ranks = append(m.ranks, m.names[i])
	}
	if m.seed.IntN(3) == 0 {
		m.makeRows()
	} else if len(m.names) > 1 && m.seed.IntN(2) == 0 {
		m.makeZip()
	}
	for range m.seed.IntN(3) {
		m.makeWhen()
	}
	for range m.seed.IntN(4) {
		m.makeRule()
	}
	if name := m.name(); m.zips == nil || !slices.Contains(m.zips[0], name) {
		m.repeat = name
	}
	if m.seed.IntN(3) == 0 {
		m.include()
	}
	return m
}

// include has points come first, of values that parameters have or not.
func (m *model) include() {
	for range 1 + m.seed.IntN(6) {
		point := map[string]string{}
		for _, name := range m.names {
			point[name] = m.values[name][m.seed.IntN(len(m.values[name]))]
			if m.seed.IntN(20) == 0 {
				point[name] = "9"
			}
		}
		if m.seed.IntN(2) == 0 {
			delete(point, m.repeat)
		}
		m.included = append(m.included, point)
	}
}

// makeZip has two parameters vary together, which need not stand beside each other.
func (m *model) makeZip() {
	pair := m.seed.Perm(len(m.names))[:2]
	a, b := m.names[pair[0]], m.names[pair[1]]
	m.values[b] = nil
	for range m.values[a] { // with equal elements
		m.values[b] = append(m.values[b], fmt.Sprint(1+m.seed.IntN(2)))
	}
	if m.seed.IntN(2) == 0 {
		for i := range m.values[a] {
			m.values[a][i] = fmt.Sprint(1 + m.seed.IntN(2))
		}
	}
	m.zips = append(m.zips, []string{a, b})
}

// makeRows makes an explicit list of all parameters, some absent in some points.
func (m *model) makeRows() {
	m.listed = m.names
	for i := range 1 + m.seed.IntN(6) {
		row := map[string]string{}
		for _, name := range m.names {
			if i == 0 || m.seed.IntN(5) > 0 {
				row[name] = m.values[name][m.seed.IntN(len(m.values[name]))]
			}
		}
		m.rows = append(m.rows, row)
	}
}

func number(text string) int { n := 0; _, _ = fmt.Sscan(text, &n); return n }

// condition returns a random one of some names: its text, and whether it holds.
func (m *model) condition(names []string) (string, func(map[string]string) bool, []string) {
	a, b := names[m.seed.IntN(len(names))], names[m.seed.IntN(len(names))]
	limit := 2 + m.seed.IntN(7)
	switch m.seed.IntN(4) {
	case 0:
		return fmt.Sprintf("%s * %s <= %d", a, b,
				limit), func(p map[string]string) bool {
				return number(p[a])*number(p[b]) <= limit
			}, []string{a, b}
	case 1:
		return fmt.Sprintf("%s + %s > %d", a, b,
				limit/2), func(p map[string]string) bool {
				return number(p[a])+
					number(p[b]) > limit/2
			}, []string{a, b}
	case 2:
		return fmt.Sprintf("%s in [1, 3] or %s == 2", a,
				b), func(p map[string]string) bool {
				return p[a] == "1" || p[a] == "3" ||
					p[b] == "2"
			}, []string{a, b}
	}
	return fmt.Sprintf("not %s = 1",
		a), func(p map[string]string) bool { return p[a] != "1" }, []string{a}
}

func lacking(p map[string]string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, has := p[n]; return !has })
}

func (m *model) makeWhen() {
	name := m.name()
	if m.whens[name] != nil {
		return
	}
	var others []string // only those before it in some order: no circle
	for _, n := range m.ranks {
		if n == name {
			break
		}
		others = append(others, n)
	}
	if len(others) == 0 {
		return
	}
	text, holds, looks := m.condition(others)
	m.whens[name] = func(p map[string]string) bool { return !lacking(p, looks) && holds(p) }
	m.rules = append(m.rules, fmt.Sprintf("when: {%s: %q}", name, text))
	m.order = append(m.order, name)
	slices.SortFunc(m.order, func(a, b string) int {
		return slices.Index(m.ranks,
			a) - slices.Index(m.ranks, b)
	})
}

func (m *model) makeRule() {
	if m.seed.IntN(2) == 0 {
		text, holds, looks := m.condition(m.names)
		m.rules = append(m.rules, "where: "+text)
		m.keeps = append(m.keeps, func(p map[string]string) bool {
			return lacking(p, looks) ||
				holds(p)
		})
		return
	}
	a, b := m.name(), m.name()
	if a == b {
		return
	}
	x, y := m.values[a][0], m.values[b][m.seed.IntN(len(m.values[b]))]
	m.rules = append(m.rules, fmt.Sprintf("exclude: {%s: [%s, 4], %s: %s}", a, x, b, y))
	m.keeps = append(m.keeps, func(p map[string]string) bool {
		return !((p[a] == x || p[a] == "4") && p[b] == y)
	})
}

// file returns the model as a file: rules of one kind in one list.
func (m *model) file() string {
	var b strings.Builder
	if m.rows != nil {
		for _, row := range m.rows {
			var all []string
			for _, name := range m.names {
				if v, has := row[name]; has {
					all = append(all, name+": "+v)
				}
			}
			fmt.Fprintf(&b, "- {%s}\n", strings.Join(all, ", "))
		}
	} else {
		for _, name := range m.names {
			fmt.Fprintf(&b, "%s: [%s]\n", name, strings.Join(m.values[name], ", "))
		}
	}
	b.WriteString("---\n")
	if m.zips != nil {
		fmt.Fprintf(&b, "zip: [[%s]]\n", strings.Join(m.zips[0], ", "))
	}
	of := map[string][]string{}
	for _, r := range m.rules {
		kind, rest, _ := strings.Cut(r, ": ")
		of[kind] = append(of[kind], rest)
	}
	for _, kind := range []string{"where", "exclude", "when"} {
		switch all := of[kind]; {
		case len(all) == 0:
		case kind == "when":
			var inner []string
			for _, one := range all {
				inner = append(inner, strings.Trim(one, "{}"))
			}
			fmt.Fprintf(&b, "when: {%s}\n", strings.Join(inner, ", "))
		default:
			fmt.Fprintf(&b, "%s:\n- %s\n", kind, strings.Join(all, "\n- "))
		}
	}
	if m.included != nil {
		b.WriteString("include:\n")
		for _, point := range m.included {
			var all []string
			for _, name := range m.names {
				if v, has := point[name]; has {
					all = append(all, name+": "+v)
				}
			}
			fmt.Fprintf(&b, "- {%s}\n", strings.Join(all, ", "))
		}
	}
	if m.repeat != "" {
		fmt.Fprintf(&b, "repeat: %s\n", m.repeat)
	}
	return b.String()
}

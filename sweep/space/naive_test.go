package space_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/space"
)

// expand lists the points of the model, each as text, in the order of the file. Combinations is how
// many the rules leave.
func (m *model) expand() (all []string, combinations int) {
	seen := map[string]bool{}
	add := func(point map[string]string) {
		var parts []string
		for _, name := range m.names {
			if v, has := point[name]; has {
				parts = append(parts, name+"="+v)
			}
		}
		text := strings.Join(parts, " ")
		if !seen[text] { // the first of equal ones is run
			all = append(all, text)
		}
		seen[text] = true
	}
	for _, point := range m.included {
		if _, has := point[m.repeat]; has || m.repeat == "" || m.rows != nil {
			add(point)
			continue
		}
		for _, v := range m.values[m.repeat] {
			one := maps.Clone(point)
			if holds := m.whens[m.repeat]; holds == nil || holds(one) {
				one[m.repeat] = v
			}
			add(one)
		}
	}
	combinations = 0
	m.walk(0, map[string]string{}, func(p map[string]string) {
		point := map[string]string{}
		for k, v := range p {
			point[k] = v
		}
		for _, name := range m.order {
			if !m.whens[name](point) {
				delete(point, name)
			}
		}
		for _, keep := range m.keeps {
			if !keep(point) {
				return
			}
		}
		combinations++
		add(point)
	})
	return all, combinations
}

// walk makes every combination, the last parameter fastest, groups where the first of them stands.
func (m *model) walk(i int, p map[string]string, each func(map[string]string)) {
	if m.rows != nil {
		for _, row := range m.rows {
			each(row)
		}
		return
	}
	if i == len(m.names) {
		each(p)
		return
	}
	name := m.names[i]
	if _, set := p[name]; set {
		m.walk(i+1, p, each)
		return
	}
	for n, v := range m.values[name] {
		p[name] = v
		for _, zip := range m.zips {
			if slices.Contains(zip, name) {
				for _, other := range zip {
					p[other] = m.values[other][n]
				}
			}
		}
		m.walk(i+1, p, each)
	}
	delete(p, name)
	for _, zip := range m.zips {
		if slices.Contains(zip, name) {
			for _, other := range zip {
				delete(p, other)
			}
		}
	}
}

func textOf(p space.Point) string {
	var parts []string
	for _, a := range p {
		parts = append(parts, a.Name+"="+a.Value)
	}
	return strings.Join(parts, " ")
}

// Random spaces of up to six parameters with all rules are what the naive expansion lists, in its
// order; numbers and points are the inverse of each other; and what is stored is the same.
func TestSpaceIsTheNaiveExpansion(t *testing.T) {
	t.Parallel()
	empty, ruled := 0, 0
	for seed := range uint64(1000) {
		m := newModel(seed)
		file := m.file()
		want, left := m.expand()
		s, _, err := space.Read("p.yml", []byte(file))
		if left == 0 {
			if empty++; err == nil || !strings.Contains(err.Error(), "leaves no combination") {
				t.Fatalf("%d: nothing is left of\n%s%v", seed, file, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d: %v\n%s", seed, err, file)
		}
		ruled += len(m.rules)
		checkPoints(t, s, want, file)
		stored, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back space.Space
		if err := json.Unmarshal(stored, &back); err != nil {
			t.Fatalf("%v\n%s\n%s", err, file, stored)
		}
		checkPoints(t, &back, want, file)
	}
	if empty > 500 || ruled < 1000 {
		t.Errorf("%d of 1000 spaces are empty, %d rules in the others: too few to mean anything",
			empty, ruled)
	}
}

func checkPoints(t *testing.T, s *space.Space, want []string, file string) {
	t.Helper()
	var got []string
	for i, p := range pointsFrom(s, 0) {
		got = append(got, textOf(p))
		checkArguments(t, s, i)
		if n, ok := s.Index(p); !ok || n != i {
			t.Fatalf("the index of %q is %d, %v, want %d, of\n%s", textOf(p), n, ok, i, file)
		}
		for _, a := range p {
			c, ok := s.Column(a.Name)
			if !ok || c.Value(c.At(i)) != a {
				t.Fatalf("point %d has %v, its column another value, of\n%s", i, a, file)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"),
			file)
	}
}

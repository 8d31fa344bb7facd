package space_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// but returns a point of text without some of its parameters.
func but(point string, without []string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(point), func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return slices.Contains(without, name)
	}), " ")
}

// combinations lists what points of the model have in common that differ only in some parameters,
// in the order of the file without these parameters.
func (m *model) combinations(repeats []string) (all []string) {
	if m.rows != nil {
		points, _ := m.expand()
		for _, row := range m.rows {
			var parts []string
			for _, name := range m.names {
				if v, has := row[name]; has {
					parts = append(parts, name+"="+v)
				}
			}
			all = append(all, but(strings.Join(parts, " "), repeats))
		}
		return distinct(slices.DeleteFunc(all, func(c string) bool {
			return !slices.ContainsFunc(points, func(p string) bool { return but(p, repeats) == c })
		}))
	}
	last := *m
	last.included = nil
	last.names = slices.DeleteFunc(slices.Clone(m.names),
		func(name string) bool { return slices.Contains(repeats, name) })
	last.names = append(last.names, repeats...)
	points, _ := last.expand()
	for _, p := range points {
		all = append(all, but(p, repeats))
	}
	for i, c := range all { // the names in their order again
		parts := strings.Fields(c)
		slices.Sort(parts)
		all[i] = strings.Join(parts, " ")
	}
	return distinct(all)
}

func distinct(all []string) (first []string) {
	for _, one := range all {
		if !slices.Contains(first, one) {
			first = append(first, one)
		}
	}
	return first
}

// sampled returns what a sample leaves of the points of a model: the included ones, and all that
// are repeats of a combination that was drawn of those that no included point has.
func (m *model) sampled(t *testing.T, repeats []string, n, seed int64) []string {
	t.Helper()
	points, _ := m.expand()
	include := *m
	include.keeps = []func(map[string]string) bool{func(map[string]string) bool { return false }}
	included, _ := include.expand()
	var taken []string
	for _, p := range included {
		taken = append(taken, but(p, repeats))
	}
	left := slices.DeleteFunc(m.combinations(repeats),
		func(c string) bool { return slices.Contains(taken, c) })
	if n >= int64(len(left)) {
		return points
	}
	var some []string
	for _, number := range drawn(t, int64(len(left)), n, seed) {
		i, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		some = append(some, left[i])
	}
	return slices.DeleteFunc(points, func(p string) bool {
		return !slices.Contains(included, p) && !slices.Contains(some, but(p, repeats))
	})
}

// Samples of random spaces with repeats are what is drawn of a list of all combinations, each with
// all its repeats; and what is stored is the same.
func TestSampleWithRepeatsIsTheNaiveOne(t *testing.T) {
	t.Parallel()
	compared, unclear, drew := 0, 0, 0
	for seed := range uint64(2000) {
		m := newModel(seed)
		if len(m.names) < 2 || m.repeat == "" {
			continue
		}
		repeats := []string{m.repeat}
		if other := m.name(); m.seed.IntN(2) == 0 && other != repeats[0] {
			repeats = append(repeats, other)
		}
		if slices.ContainsFunc(m.zips, func(zip []string) bool {
			return slices.ContainsFunc(zip, func(n string) bool {
				return slices.Contains(repeats, n)
			})
		}) {
			continue
		}
		if _, left := m.expand(); left == 0 {
			continue
		}
		n, draw := int64(1+m.seed.IntN(12)), int64(m.seed.IntN(5))
		file := strings.TrimSuffix(m.file(), "repeat: "+m.repeat+"\n") +
			fmt.Sprintf("repeat: [%s]\nsample: %d\nseed: %d\n", strings.Join(repeats, ", "), n,
				draw)
		s, _, err := space.Read("p.yml", []byte(file))
		if err != nil {
			if unclear++; !strings.Contains(err.Error(), "is not clear") {
				t.Fatalf("%d: %v\n%s", seed, err, file)
			}
			continue
		}
		want := m.sampled(t, repeats, n, draw)
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
		compared++
		if _, is := s.Sampled(); is {
			drew++
		}
	}
	if compared < 700 || unclear > 500 || drew < 200 {
		t.Errorf("%d spaces, %d of them drawn, %d unclear: too few to mean anything", compared,
			drew,
			unclear)
	}
}

// More repeats of a sample are more repeats of the combinations that it has drawn, whatever rules
// and included points there are, and a larger sample has these points, too.
func TestExtendedSamples(t *testing.T) {
	t.Parallel()
	const file = `
seed: [%s]
lr: !log [1e-5, 1e-1, 20]
optimizer: [adam, sgd]
momentum: [0.9, 0.99]
fold: [1, 2]
---
when: {momentum: optimizer == sgd}
where: lr < 0.01 or optimizer == sgd or seed == 1
include: [{seed: 6, lr: 0.5, optimizer: adam, fold: 1}, {seed: 6, lr: 1e-5, optimizer: adam, fold: 2}]
repeat: [seed, fold]
sample: %d
`
	of := func(seeds string, n int) *space.Space { return read(t, fmt.Sprintf(file, seeds, n)) }
	combinations := func(s *space.Space) (all []string) {
		for _, p := range pointsFrom(s, 2) {
			all = append(all, but(textOf(p), []string{"seed", "fold"}))
		}
		return distinct(all)
	}
	five, eight, more := of("1, 2, 3, 4, 5", 11), of("1, 2, 3, 4, 5, 6, 7, 8", 11),
		of("1, 2, 3, 4, 5", 12)
	was, now := combinations(five), combinations(eight)
	slices.Sort(was)
	slices.Sort(now)
	if diff := cmp.Diff(was, now); diff != "" || len(was) != 11 {
		t.Errorf("%d combinations, with more seeds (five -, eight +)\n%s", len(was), diff)
	}
	for name, larger := range map[string]*space.Space{"seeds": eight, "sample": more} {
		left, err := five.Without(space.Style{}, larger)
		if err != nil || len(left) != 0 {
			t.Errorf("%s: %v of the smaller sample, %v, are not in the larger", name, left, err)
		}
		added, err := larger.Without(space.Style{}, five)
		if err != nil || len(added) != 1 || added[0].Len() != larger.Len()-five.Len() {
			t.Errorf("%s: %v, %v are new", name, added, err)
		}
	}
	if d, ok := eight.Sampled(); !ok || d.Drawn != 11 || d.Of != 59 || d.Most != 16 ||
		d.Least != 2 {
		t.Errorf("drawn %+v, %v", d, ok)
	}
}

// Neither the combinations nor the repeats are listed beyond those that are drawn.
func TestSampleOfManyRepeats(t *testing.T) {
	t.Parallel()
	const file = "a: [0, 1000000)\nseed: [0, 50000)\nb: [0, 1000000)\n---\nrepeat: seed\nsample: " +
		"20\n"
	s := read(t, file)
	if d, ok := s.Sampled(); !ok || s.Len() != 1_000_000 || d.Of != 1_000_000_000_000 ||
		d.Least != 50_000 {
		t.Errorf("%d points, drawn %+v, %v", s.Len(), d, ok)
	}
	for i := int64(0); i < s.Len(); i += 99_999 {
		if n, ok := s.Index(s.Point(i)); !ok || n != i {
			t.Errorf("the index of point %d is %d, %v", i, n, ok)
		}
	}
}

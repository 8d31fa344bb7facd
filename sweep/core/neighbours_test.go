package core_test

import (
	"fmt"
	"slices"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

func TestNeighbours(t *testing.T) {
	t.Parallel()
	read := func(text string) *space.Space {
		s, _, err := space.Read("parameters.yml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	grid := read("lr: [0.1, 0.2, 0.3]\nseed: !interval [0, 100]\nname: x\n")
	for name, c := range map[string]struct {
		record core.Record
		index  int64
		want   []string
	}{
		"a grid": {core.Record{Space: grid}, 150, []string{"50 lr=0.1", "250 lr=0.3",
			"148 seed=48", "149 seed=49", "151 seed=51", "152 seed=52"}},
		"its first task": {core.Record{Space: grid}, 0, []string{"100 lr=0.2", "200 lr=0.3",
			"1 seed=1", "2 seed=2"}},
		"a rule leaves some out": {core.Record{Space: read(
			"a: [1, 2, 3]\nb: [1, 2, 3]\n---\nexclude:\n  - a = 1 and b = 2\n")}, 0,
			[]string{"2 a=2", "5 a=3", "1 b=3"}},
		"an extension": {core.Record{Space: grid, Extensions: []*space.Space{
			read("lr: [0.5, 0.7]\n")}}, 300, []string{"301 lr=0.7"}},
		"some of its tasks": {core.Record{Space: grid, Ranges: core.Ranges{{From: 148, To: 152}}},
			150, []string{"148 seed=48", "149 seed=49", "151 seed=51"}},
		"one task for each worker": {core.Record{Space: grid, Workers: []string{"w1", "w2"}}, 1, nil},
	} {
		var got []string
		for _, n := range c.record.Neighbours(c.index, 2) {
			got = append(got, fmt.Sprintf("%d %s=%s", n.Index, n.Parameter, n.Value))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

package space_test

import (
	"strings"
	"testing"

	"mlframework/sweep/space"
)

// What a sweep was submitted with goes on when it is extended, but for what is said anew.
func TestChangeThen(t *testing.T) {
	t.Parallel()
	all := space.Change{Set: []string{"lr=1", "b=2"}, Repeat: []string{"seed=1,2", "fold"},
		Sample: of(5), Seed: of(7), Limit: 3}
	const same = "lr=1 b=2 --repeat seed=1,2 --repeat fold --sample 5 --sample-seed 7 --limit 3"
	for name, c := range map[string]struct {
		later space.Change
		want  string
	}{
		"nothing": {space.Change{}, same},
		"a value": {space.Change{Set: []string{"b=3,4"}},
			strings.Replace(same, "b=2", "b=3,4", 1)},
		"another parameter": {space.Change{Set: []string{"c=1"}},
			strings.Replace(same, "b=2", "b=2 c=1", 1)},
		"a value of what repeats": {space.Change{Set: []string{"seed=3"}},
			strings.Replace(same, "seed=1,2", "seed=3", 1)},
		"one that is marked": {space.Change{Set: []string{"fold=3"}},
			strings.Replace(same, "b=2", "b=2 fold=3", 1)},
		"more repeats": {space.Change{Repeat: []string{"seed=3"}},
			strings.Replace(same, "seed=1,2", "seed=3", 1)},
		"marked again": {space.Change{Repeat: []string{"seed"}}, same},
		"what was set repeats": {space.Change{Repeat: []string{"b=5"}},
			strings.NewReplacer(" b=2", "", "fold", "fold --repeat b=5").Replace(same)},
		"what was set is marked": {space.Change{Repeat: []string{"b"}},
			strings.Replace(same, "fold", "fold --repeat b", 1)},
		"what was marked has more": {space.Change{Repeat: []string{"fold=1,2"}},
			strings.Replace(same, "fold", "fold=1,2", 1)},
		"a sample": {space.Change{Sample: of(6)},
			strings.Replace(same, "sample 5", "sample 6", 1)},
		"a seed": {space.Change{Seed: of(0)},
			strings.Replace(same, "seed 7", "seed 0", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(all.Then(c.later).Arguments(), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := strings.Join(all.Arguments(), " "); got != same {
				t.Errorf("the change itself is now %s", got)
			}
		})
	}
	if !(space.Change{}).IsZero() || all.IsZero() {
		t.Error("IsZero")
	}
}

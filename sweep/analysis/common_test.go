package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"mlframework/sweep/analysis"
)

// What a group has in common is one value or two that nearly all of its tasks have and nearly no
// other task; where nothing is, nothing is said.
func TestCommon(t *testing.T) {
	t.Parallel()
	names := []string{"lr", "opt", "seed", "host"}
	all := func(lrs, opts, seeds []string, host func(lr, opt, seed string) string,
		fails func(lr, opt, seed, host string) bool) (c *analysis.Common) {
		c = analysis.NewCommon(len(names))
		for _, lr := range lrs {
			for _, opt := range opts {
				for _, seed := range seeds {
					h, group := host(lr, opt, seed), -1
					if fails(lr, opt, seed, h) {
						group = 0
					}
					c.Add([]string{lr, opt, seed, h}, group)
				}
			}
		}
		return c
	}
	seeds := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint(i))
		}
		return all
	}
	lrs, opts := []string{"0.1", "0.01", "0.001"}, []string{"sgd", "adam"}
	one := func(string, string, string) string { return "a" }
	bySeed := func(_, _, seed string) string { return string(rune('a' + seed[0]%2)) }
	for _, c := range []struct {
		name, want string
		tasks      *analysis.Common
	}{
		{"one value", "lr=0.1", all(lrs, opts, seeds(5), one,
			func(lr, _, _, _ string) bool { return lr == "0.1" })},
		{"a host", "host=b", all(lrs, opts, seeds(6), bySeed,
			func(_, _, _, h string) bool { return h == "b" })},
		{"two values", "lr=0.1 opt=adam", all(lrs, opts, seeds(5), one,
			func(lr, opt, _, _ string) bool { return lr == "0.1" && opt == "adam" })},
		{"a value on a host", "lr=0.01 host=a", all(lrs, opts, seeds(6), bySeed,
			func(lr, _, _, h string) bool { return lr == "0.01" && h == "a" })},
		{"nine tenths of the value fail", "lr=0.1", all(lrs, opts, seeds(5), one,
			func(lr, opt, seed, _ string) bool { return lr == "0.1" && opt+seed != "sgd0" })},
		{"one of ten fails elsewhere", "lr=0.1", all(lrs, opts, seeds(5), one,
			func(lr, opt, seed, _ string) bool {
				return lr == "0.1" && opt+seed != "sgd0" || lr+opt+seed == "0.01sgd0"
			})},
		{"too few of the value fail", "", all(lrs, opts, seeds(5), one,
			func(lr, opt, seed, _ string) bool { return lr == "0.1" && seed != "0" })},
		{"two of ten fail elsewhere", "", all(lrs, opts[:1], seeds(10), one,
			func(lr, _, seed, _ string) bool { return lr == "0.1" || lr == "0.01" && seed < "3" })},
		{"all fail", "", all(lrs, opts, seeds(5), one,
			func(string, string, string, string) bool { return true })},
		{"nearly all fail", "", all(lrs, opts, seeds(5), one,
			func(lr, opt, seed, _ string) bool { return lr+opt+seed != "0.1sgd0" })},
		{"two fail", "", all(lrs, opts, seeds(2), one,
			func(lr, opt, _, _ string) bool { return lr == "0.1" && opt == "sgd" })},
		{"three fail", "lr=0.1 opt=sgd", all(lrs, opts, seeds(3), one,
			func(lr, opt, _, _ string) bool { return lr == "0.1" && opt == "sgd" })},
		{"three terms would be needed", "", all(lrs, opts, seeds(6), bySeed,
			func(lr, opt, _, h string) bool { return lr == "0.1" && opt == "sgd" && h == "a" })},
		{"a parameter comes before a host that says the same", "lr=0.1", all(lrs, opts, seeds(5),
			func(lr, _, _ string) string { return "on " + lr },
			func(lr, _, _, _ string) bool { return lr == "0.1" })},
		{"nothing has failed", "", all(lrs, opts, seeds(5), one,
			func(string, string, string, string) bool { return false })},
		{"what tasks lack is not in common", "", all([]string{"", "1"}, opts, seeds(5), one,
			func(lr, _, _, _ string) bool { return lr == "" })},
		{"no tasks", "", analysis.NewCommon(1)},
	} {
		var got []string
		for _, term := range c.tasks.Where(0) {
			got = append(got, names[term.Column]+"="+term.Value)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// Groups are looked at each for itself, also behind columns that all tasks have alike.
func TestCommonOfGroups(t *testing.T) {
	t.Parallel()
	c := analysis.NewCommon(40)
	for i := range 100 {
		texts := make([]string, 40)
		for n := range texts {
			texts[n] = "same"
		}
		texts[39] = fmt.Sprint(i % 4)
		c.Add(texts, i%4-2)
	}
	for group, want := range []string{"2", "3"} {
		if got := c.Where(group); len(got) != 1 || got[0] != (analysis.Term{Column: 39, Value: want}) {
			t.Errorf("group %d: %v", group, got)
		}
	}
	if got := c.Where(7); got != nil {
		t.Errorf("of no group: %v", got)
	}
}

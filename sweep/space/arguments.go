package space

import (
	"slices"
	"strconv"
	"strings"
)

// IsZero reports whether nothing is changed.
func (c Change) IsZero() bool {
	return len(c.Set) == 0 && len(c.Repeat) == 0 && c.Sample == nil && c.Seed == nil && c.Limit == 0
}

// Arguments returns the words of a command line that say the change.
func (c Change) Arguments() []string {
	words := slices.Clone(c.Set)
	for _, text := range c.Repeat {
		words = append(words, "--repeat", text)
	}
	option := func(name string, n *int64) {
		if n != nil {
			words = append(words, name, strconv.FormatInt(*n, 10))
		}
	}
	option("--sample", c.Sample)
	option("--seed", c.Seed)
	if c.Limit > 0 {
		option("--limit", &c.Limit)
	}
	return words
}

// Then returns the change that says what c does but for what later says: of each parameter, and of
// the sample and its seed, the later one counts. A parameter that was added only to repeat goes on
// to. The limit is that of c.
func (c Change) Then(later Change) Change {
	c.Set, c.Repeat = slices.Clone(c.Set), slices.Clone(c.Repeat)
	for _, text := range later.Set {
		if i := indexOf(c.Repeat, nameOf(text)); i >= 0 && c.Repeat[i] != nameOf(text) {
			c.Repeat[i] = text
			continue
		}
		c.Set = replaced(c.Set, text)
	}
	for _, text := range later.Repeat {
		i := indexOf(c.Repeat, nameOf(text))
		if !strings.Contains(text, "=") && i >= 0 {
			continue
		}
		if strings.Contains(text, "=") {
			c.Set = slices.DeleteFunc(c.Set, func(set string) bool {
				return nameOf(set) == nameOf(text)
			})
		}
		c.Repeat = replaced(c.Repeat, text)
	}
	if later.Sample != nil {
		c.Sample = later.Sample
	}
	if later.Seed != nil {
		c.Seed = later.Seed
	}
	return c
}

// nameOf returns the parameter of NAME=VALUE or NAME.
func nameOf(text string) string {
	name, _, _ := strings.Cut(text, "=")
	return name
}

func indexOf(all []string, name string) int {
	return slices.IndexFunc(all, func(text string) bool { return nameOf(text) == name })
}

// replaced returns all with a text instead of that of the same name, or behind the others.
func replaced(all []string, text string) []string {
	if i := indexOf(all, nameOf(text)); i >= 0 {
		all[i] = text
		return all
	}
	return append(all, text)
}

package install

import (
	"fmt"
	"strings"
)

// Text is the plan for people: each step with its script, as --dry-run shows it.
func (p Plan) Text() string {
	var b strings.Builder
	if len(p.Steps) == 0 {
		b.WriteString("nothing to do\n")
	}
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s.Title)
		for line := range strings.Lines(strings.TrimSuffix(s.Script, "\n")) {
			b.WriteString("       " + strings.TrimSuffix(line, "\n") + "\n")
		}
		if s.Undo != "" {
			b.WriteString("   if that fails: " + s.Undo + "\n")
		}
	}
	for _, note := range p.Notes {
		b.WriteString("note: " + note + "\n")
	}
	if p.Left != "" {
		b.WriteString("then: " + p.Left + "\n")
	}
	return b.String()
}

// Summary says in a line what counts of a host; "" where nothing is known of it.
func (f Facts) Summary() string {
	if f.User == "" {
		return ""
	}
	parts := []string{f.System}
	switch counts, names := map[string]int{}, []string{}; {
	case len(f.GPU.GPUs) > 0:
		for _, g := range f.GPU.GPUs {
			if counts[g.Name]++; counts[g.Name] == 1 {
				names = append(names, g.Name)
			}
		}
		for _, name := range names {
			parts = append(parts, fmt.Sprintf("%d x %s", counts[name], name))
		}
		parts = append(parts, "driver "+f.GPU.Driver)
	case len(f.Cards) > 0:
		parts = append(parts, "no driver")
	}
	for _, is := range [][2]string{{"Docker", f.Docker.Version}, {"toolkit", f.Docker.Toolkit}} {
		if is[1] == "" {
			parts = append(parts, "no "+is[0])
		} else {
			parts = append(parts, is[0]+" "+is[1])
		}
	}
	if parts[0] == "" {
		parts = parts[1:]
	}
	return strings.Join(parts, ", ")
}

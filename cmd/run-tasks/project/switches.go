package project

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mlframework/sweep/space"
)

// maxScript is the maximum size of a script that is searched, in bytes.
const maxScript = 1 << 20

// noteSwitches adds a note for each switch that a script enables by default: false passes no flag,
// so a task with false would run the same as one with true.
func (p *Project) noteSwitches() {
	if style := styleOf(p.Task); style.Form != "" || style.Switch != "" {
		return
	}
	var off []string
	for _, s := range p.Space.Parameters() {
		for i := range min(s.Len(), mostTypes) {
			if v := s.Value(i); v.Kind == space.Switch && strings.EqualFold(v.Value, "false") {
				off = append(off, s.Name())
				break
			}
		}
	}
	if len(off) == 0 {
		return
	}
	eachArgument(p.Record(""), func(_, at string, input bool) {
		if !input || filepath.Ext(at) != ".py" {
			return
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(at)))
		if err != nil || len(text) > maxScript {
			return
		}
		for _, name := range off {
			flag := map[string]string{"no": "--no-" + name, "value": "--" + name + "=false"}
			if form := switchOf(string(text), name); form != "" {
				where := "in tasks." + p.Task.Name
				if p.Typed {
					where = "in a tasks.yml"
				}
				p.Notes = append(p.Notes, fmt.Sprintf("%s: false passes no flag, and %s enables "+
					"it by default; to pass %s, set switch: %s %s", name, at, flag[form], form,
					where))
			}
		}
	})
}

// argparseNumber matches negative numbers that Python's argparse does not take for options.
var argparseNumber = regexp.MustCompile(`^-(?:\d+|\d*\.\d+)$`)

// noteDashes adds a note for each parameter with a value that begins with - and is an argument by
// itself: programs may take it for an option.
func (p *Project) noteDashes() {
	if style := styleOf(p.Task); style.Form != "" || !style.Space {
		return
	}
	for _, s := range p.Space.Parameters() {
		for i := range min(s.Len(), mostTypes) {
			v := s.Value(i)
			if !strings.HasPrefix(v.Value, "-") || argparseNumber.MatchString(v.Value) {
				continue
			}
			where := "flags: equals in tasks." + p.Task.Name
			if p.Typed {
				where = "--as equals"
			}
			p.Notes = append(p.Notes, fmt.Sprintf("%s: argparse takes %s for an option, as it "+
				"begins with -; to pass --%s=%s, set %s", s.Name(), v.Value, s.Name(), v.Value,
				where))
			break
		}
	}
}

// switchDeclarations match declarations of switches that are on by default, in Python libraries for
// command lines. NAME stands for the switch, ID for its name as an identifier.
var switchDeclarations = []struct{ pattern, form string }{
	{`["']--NAME["'][^)]*BooleanOptionalAction[^)]*default\s*=\s*True`, "no"}, // argparse
	{`["']--NAME["'][^)]*default\s*=\s*True[^)]*BooleanOptionalAction`, "no"},
	{`["']--NAME/--no-NAME["'][^)]*default\s*=\s*True`, "no"},  // click
	{`DEFINE_bool(?:ean)?\(\s*["']ID["']\s*,\s*True`, "value"}, // absl
	{`(?s)(?:import|from)\s+(?:tyro|typer)\b.*` +
		`\bID\s*(?::\s*bool\s*)?=\s*(?:typer\.Option\(\s*)?True\b`, "no"},
	{`(?s)import\s+fire\b.*\bID\s*(?::\s*bool\s*)?=\s*True\b`, "value"},
}

// switchOf returns the form of switch with which false turns off a switch that a script declares as
// on by default. It returns "" if the script does not declare it so.
func switchOf(script, name string) (form string) {
	fill := strings.NewReplacer("NAME", regexp.QuoteMeta(name),
		"ID", regexp.QuoteMeta(strings.ReplaceAll(name, "-", "_")))
	for _, d := range switchDeclarations {
		if regexp.MustCompile(fill.Replace(d.pattern)).MatchString(script) {
			return d.form
		}
	}
	return ""
}

package project

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"mlframework/cmd/run-tasks/guess"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// notePassed adds notes about parameters that are passed as flags to a Python script that takes
// them otherwise: by their place, or not at all.
func (p *Project) notePassed() {
	i := definition.ScriptIndex(p.Task.Command)
	if styleOf(p.Task).Form != "" || p.Space == nil || i < 0 ||
		path.Ext(p.Task.Command[i]) != ".py" {
		return
	}
	placed := p.Record("").Recipe.NoArguments()
	flags := slices.DeleteFunc(NamesOf(p.Space), func(name string) bool {
		return slices.Contains(placed, name)
	})
	script := path.Join(filepath.ToSlash(p.Task.Workdir), p.Task.Command[i])
	files := os.DirFS(p.Dir)
	if len(flags) == 0 || !filepath.IsLocal(script) {
		return
	}
	if guess.ReadsNothing(files, script) {
		p.Notes = append(p.Notes, fmt.Sprintf("%s reads no arguments: %s %s no effect on it", script,
			human.List(flags), human.Pick(len(flags), "has", "have")))
		return
	}
	for _, o := range guess.Read(files, script).Options {
		for _, name := range flags {
			if o.Place() && o.Name == name {
				p.Notes = append(p.Notes, fmt.Sprintf("%s takes %s by its place, not as --%[2]s: write "+
					"{%[2]s} in the command", script, name))
			}
		}
	}
}

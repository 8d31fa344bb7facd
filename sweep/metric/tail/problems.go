package tail

import (
	"fmt"
	"strings"

	"mlframework/sweep/human"
)

// Problems returns sentences about what could not be read.
func (f *Folder) Problems() (all []string) {
	if f.recordErr != nil {
		all = append(all, fmt.Sprintf("cannot write %s: %s; if metrics are read again, values "+
			"that files contained before the task count too", recordFile,
			human.Cause(f.recordErr)))
	}
	for _, s := range f.sources {
		var metrics []string
		for _, r := range s.rules {
			metrics = append(metrics, r.Name)
		}
		of := "metric " + strings.Join(metrics, ", ") + ": "
		if len(s.files) == 0 {
			all = append(all, of+f.never(s))
		}
		if s.tooMany {
			all = append(all, fmt.Sprintf("%s%s names more than %d files: the others are not read",
				of, s.pattern, maxFiles))
		}
		all = append(all, s.problems(of)...)
	}
	if len(all) > maxProblems {
		rest := len(all) - maxProblems + 1
		all = append(all[:maxProblems-1], fmt.Sprintf("and %d more", rest))
	}
	for i, text := range all {
		all[i] = human.Visible(text)
	}
	return all
}

// problems returns sentences about the files that match a pattern. They name the pattern, once for
// all files: a task may have many, whose names differ, for example by a time.
func (s *source) problems(of string) (all []string) {
	files := map[string]int{}
	var order []string
	for _, file := range s.files {
		var found []string
		if len(file.owned) > 0 && file.owned[0].Of == 0 {
			found = append(found, " starts with the project's rows, which do not count; if the "+
				"program rewrites it, delete the project's or add it to outputs in tasks.yml")
		}
		if file.err != nil {
			found = append(found, ": "+human.Cause(file.err))
		} else {
			for _, p := range file.reader.Problems() {
				found = append(found, " "+p)
			}
		}
		for _, p := range found {
			if files[p]++; files[p] == 1 {
				order = append(order, p)
			}
		}
	}
	for _, p := range order {
		name := s.pattern
		if files[p] < len(s.files) {
			name = "a file that matches " + name
		}
		all = append(all, of+name+p)
	}
	return all
}

// quote returns a path in messages: what the definition names, or with what is to be hidden left
// out.
func (f *Folder) quote(s *source, path string) string {
	if f.hide == nil || path == s.pattern || strings.HasPrefix(s.pattern, path+"/") {
		return path
	}
	return f.hide(path)
}

// never says why a pattern has no file.
func (f *Folder) never(s *source) string {
	for path := range f.baseline {
		if matches(s.pattern, path) {
			origin := "belongs to the project"
			if marks := f.marks[path]; len(marks) > 0 && marks[0].Of < 0 {
				origin = fmt.Sprintf("was written by attempt %d, which failed with other files of "+
					"the project", -marks[0].Of)
			}
			return s.pattern + " " + origin + ", and the program did not change it"
		}
	}
	if s.outsideLink != "" {
		return f.quote(s, s.outsideLink) + ": " + errOut.Error()
	}
	if f.full {
		return fmt.Sprintf("no file %s among the first %d that were looked at", s.pattern,
			maxEntries)
	}
	return "there is no file " + s.pattern
}

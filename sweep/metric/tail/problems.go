package tail

import (
	"fmt"
	"strings"

	"mlframework/sweep/human"
)

// Problems returns sentences about what could not be read.
func (f *Folder) Problems() (all []string) {
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
		for _, file := range s.files {
			if file.err != nil {
				all = append(all, of+f.quote(s, file.path)+": "+human.Cause(file.err))
				continue
			}
			for _, p := range file.reader.Problems() {
				all = append(all, of+f.quote(s, file.path)+" "+p)
			}
		}
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
			return f.quote(s, path) + " is the project's, and the program did not change it"
		}
	}
	if s.outsideLink != "" {
		return f.quote(s, s.outsideLink) + ": " + errOut.Error()
	}
	if f.full {
		return fmt.Sprintf("no file %s among the first %d that were looked at", s.pattern,
			maxEntries)
	}
	return "the program wrote no file " + s.pattern
}

package failure

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Frame is where in the user's own code the exception was raised that Line tells of: "train.py:41";
// "": Line is of no Python traceback, or all of its frames are of libraries. It is the innermost
// frame of a file in one of the folders, and named as from there. If there is none, it is the
// innermost of a file that is not of Python or of an installed package.
func (t *Tail) Frame(folders ...string) string {
	raised, _, _ := raised(linesOf(t.kept))
	if raised == nil {
		return ""
	}
	other := ""
	for _, frame := range slices.Backward(raised.frames) {
		file, number := splitFrame(frame)
		if file = path.Clean(file); installed.MatchString(file) {
			continue
		}
		if name, own := within(file, folders); own {
			return name + ":" + number
		}
		if other == "" {
			other = path.Base(file) + ":" + number
		}
	}
	return other
}

// installed matches files that are not the user's: those of Python and of packages, and <string>.
var installed = regexp.MustCompile(`/(site|dist)-packages/|/lib(64)?/python[0-9.]+/|^<|\.zip/`)

// within returns the name of a file as from the folder that it is in. Relative paths are of the
// folder in which the program was started.
func within(file string, folders []string) (name string, own bool) {
	if !path.IsAbs(file) {
		return file, !strings.HasPrefix(file, "../")
	}
	for _, folder := range folders {
		if name, own = strings.CutPrefix(file, path.Clean(folder)+"/"); own {
			return name, true
		}
	}
	return "", false
}

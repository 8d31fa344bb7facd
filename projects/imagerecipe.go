package projects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"
)

// Recipe is a hash of what makes the image of a folder with a Dockerfile another one: the
// Dockerfile, and the files and folders that its COPY and ADD lines name. What they take with the
// whole folder does not count: that is the project's code, which tasks see as it is in their own
// folders. Without a Dockerfile it is that of an empty one.
func (m *Manifest) Recipe(folder string) (string, error) {
	folder = path.Clean(folder)
	text, err := m.text(path.Join(folder, "Dockerfile"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write([]byte(text))
	named := copied(text)
	for _, e := range m.Entries {
		name, inside := e.Path, true
		if folder != "." {
			name, inside = strings.CutPrefix(e.Path, folder+"/")
		}
		covers := func(pattern string) bool { return covers(pattern, name) }
		if inside && slices.ContainsFunc(named, covers) {
			e.addTo(sum)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:revisionLength], nil
}

// text is what a file of the project says; "" where there is none.
func (m *Manifest) text(name string) (string, error) {
	for _, e := range m.Entries {
		if e.Path != name || e.Kind != File {
			continue
		}
		f, err := m.Open(e)
		if err != nil {
			return "", err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		return string(text), err
	}
	return "", nil
}

// copied are the sources that the COPY and ADD lines of a Dockerfile name, but for the whole folder
// and what is not of it: other stages, and addresses of the network.
func copied(dockerfile string) (sources []string) {
	for line := range strings.Lines(strings.ReplaceAll(dockerfile, "\\\n", " ")) {
		words := strings.Fields(line)
		if len(words) == 0 || !slices.Contains([]string{"COPY", "ADD"}, strings.ToUpper(words[0])) {
			continue
		}
		rest := words[1:]
		elsewhere := false
		for len(rest) > 0 && strings.HasPrefix(rest[0], "--") {
			elsewhere = elsewhere || strings.HasPrefix(rest[0], "--from=")
			rest = rest[1:]
		}
		var list []string
		if json.Unmarshal([]byte(strings.Join(rest, " ")), &list) == nil {
			rest = list
		}
		if elsewhere || len(rest) < 2 {
			continue
		}
		for _, source := range rest[:len(rest)-1] {
			source = strings.TrimPrefix(path.Clean(source), "/")
			if source != "." && source != "" && source != "*" && !strings.Contains(source, ":/") {
				sources = append(sources, source)
			}
		}
	}
	return sources
}

// covers reports whether a pattern of COPY names a file, or a folder that holds it.
func covers(pattern, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if fits, err := path.Match(pattern, name); fits && err == nil {
			return true
		}
	}
	return false
}

package server

import (
	"errors"
	"slices"
	"testing"

	"mlframework/projects"
)

// Manifests are read until every content is found. An empty file is no content to look for.
func TestFindReadsNoMoreManifestsThanItNeeds(t *testing.T) {
	t.Parallel()
	file := func(hash string, size int64) projects.Entry {
		return projects.Entry{Kind: projects.File, Hash: hash, Size: size}
	}
	releases := map[string][]projects.Entry{"1": {file("a", 1), file("empty", 0)},
		"3": {file("b", 1), {Kind: projects.Dir, Hash: "c"}}, "4": {file("a", 1), file("c", 1)}}
	for _, c := range []struct {
		name       string
		files      []projects.Entry
		read, have []string
	}{
		{"none", nil, nil, nil},
		{"an empty file", []projects.Entry{file("empty", 0)}, nil, nil},
		{"in the first", []projects.Entry{file("a", 1), file("empty", 0)}, []string{"1"},
			[]string{"1"}},
		{"in a later one", []projects.Entry{file("b", 1), file("empty", 0)},
			[]string{"1", "2", "3"}, []string{"3"}},
		{"a folder is none", []projects.Entry{file("c", 1)}, []string{"1", "2", "3", "4"},
			[]string{"4"}},
		{"in none", []projects.Entry{file("a", 1), file("d", 1)}, []string{"1", "2", "3", "4"},
			[]string{"1"}},
	} {
		var read, have []string
		found := find(c.files, []string{"1", "2", "3", "4"},
			func(revision string) (*projects.Manifest, error) {
				read = append(read, revision)
				if entries, there := releases[revision]; there {
					return &projects.Manifest{Entries: entries}, nil
				}
				return nil, errors.New("it is lost")
			})
		for _, s := range found {
			have = append(have, s.revision)
		}
		if !slices.Equal(read, c.read) || !slices.Equal(have, c.have) {
			t.Errorf("%s: read %v, found in %v", c.name, read, have)
		}
	}
}

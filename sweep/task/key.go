package task

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"mlframework/sweep/space"
)

// Key says what a task computes: the first 16 bytes of a SHA-256 over its argv, image, environment,
// code, working directory and links. Two tasks of one key are the same work, in whatever sweep.
type Key [16]byte

// KeyOf is the key of a command line. Argv has all Placeholders as written, since where a task runs
// is not what it computes; parameters count where a recipe has them beside the command line; code
// is the project's revision without the files that describe the sweep. What recipes did not have
// from the beginning counts where it is set.
func KeyOf(argv []string, image string, r Recipe, code string, of []space.Assignment) Key {
	h := make([]byte, 0, 512)
	add := func(s string) { // with its length, so that ["ab"] and ["a", "b"] differ
		h = binary.AppendUvarint(h, uint64(len(s)))
		h = append(h, s...)
	}
	h = binary.AppendUvarint(h, uint64(len(argv)))
	for _, a := range argv {
		add(a)
	}
	add(image)
	add(code)
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		add(name)
		add(r.Env[name])
	}
	if r.Workdir != "" || len(r.Links) > 0 {
		add("\x00folder") // no name of a variable
		add(r.Workdir)
		for _, path := range slices.Sorted(maps.Keys(r.Links)) {
			add(path)
			add(r.Links[path])
		}
	}
	if r.Hidden() {
		add("\x00parameters")
		for _, p := range of {
			add(p.Name)
			add(p.Value)
			add(string(p.Kind))
		}
	}
	if r.File != nil {
		add("\x00file")
		add(r.File.From)
		add(r.File.To)
	}
	sum := sha256.Sum256(h)
	return Key(sum[:16])
}

package definition

import (
	"fmt"
	"slices"

	"mlframework/internal/yamlfile"
)

type (
	value = yamlfile.Value
	entry = yamlfile.Field
)

// key is one key of a mapping of a fixed shape: how it may be written, and how it is read into a T.
type key[T any] struct {
	name    string
	example string
	read    func(r *reader, into *T, v value)
}

// place says where a table of keys applies, and where a key that is unknown there but known
// elsewhere belongs.
type place struct {
	here   string
	others []string
	there  string
}

// object reads a mapping of a fixed shape into a T and returns the values of the keys that are
// there.
func object[T any](r *reader, v value, into *T, keys []key[T], p place) (map[string]value, bool) {
	entries, ok := r.Mapping(v)
	if !ok {
		return nil, false
	}
	present := make(map[string]value, len(entries))
	for _, e := range entries {
		i := slices.IndexFunc(keys, func(k key[T]) bool { return k.name == e.Name })
		switch {
		case i < 0 && slices.Contains(p.others, e.Name):
			e.Key.Path = v.Path
			r.Fault(e.Key, fmt.Sprintf("the key %q does not belong %s", e.Name, p.here), p.there)
			continue
		case i < 0:
			r.Unknown(v, e, names(keys))
			continue
		}
		e.Value.Example = keys[i].example
		present[e.Name] = e.Value
		if r.Usable(e.Value) {
			keys[i].read(r, into, e.Value)
		}
	}
	return present, true
}

func names[T any](keys []key[T]) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.name
	}
	return list
}

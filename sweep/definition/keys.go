package definition

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/sweep/fault"
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
	entries, ok := r.mapping(v)
	if !ok {
		return nil, false
	}
	present := make(map[string]value, len(entries))
	for _, e := range entries {
		i := slices.IndexFunc(keys, func(k key[T]) bool { return k.name == e.name })
		if i < 0 {
			r.unknown(v, e, names(keys), p)
			continue
		}
		e.value.example = keys[i].example
		present[e.name] = e.value
		if r.usable(e.value) {
			keys[i].read(r, into, e.value)
		}
	}
	return present, true
}

// unknown points a key that is not in the table to the key that was meant.
func (r *reader) unknown(v value, e entry, known []string, p place) {
	at := e.key
	at.path = v.path
	problem := "unknown key " + quote(e.name)
	nearest := fault.Nearest(e.name, known)
	switch {
	case slices.Contains(p.others, e.name):
		r.fault(at, fmt.Sprintf("the key %q does not belong %s", e.name, p.here), p.there)
	case nearest != "":
		r.fault(at, problem, fmt.Sprintf("did you mean %q?", nearest))
	default:
		r.fault(at, problem, "the keys here are: "+strings.Join(known, ", "))
	}
}

func names[T any](keys []key[T]) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.name
	}
	return list
}

package yamlfile

import "gopkg.in/yaml.v3"

// Entry is a key of a mapping with its value, either of which may be an alias.
type Entry struct {
	Name       string
	Key, Value *yaml.Node
}

// Mistake is what is wrong with a mapping.
type Mistake int

// What can be wrong.
const (
	NoName    Mistake = iota // a key is a mapping or a list
	Twice                    // a key is there twice
	NoMapping                // what is to be merged is not a mapping, nor a list of mappings
	InItself                 // a mapping is merged into itself
)

// Mapping lists the keys of mappings and of those merged into them. As YAML has it, a mapping's own
// keys win over merged ones, and earlier merged mappings over later ones. Merged keys stand where
// the "<<" stands. Merging a mapping twice adds nothing, so that the work grows with the text,
// whatever its aliases repeat.
type Mapping struct {
	// Wrong is told of each mistake: where it is, and of a key that is there twice the first. Of
	// the two both are listed.
	Wrong func(m Mistake, at, first *yaml.Node)
	// Name is told of each key that is a name, merge keys left out; may be nil.
	Name func(key *yaml.Node)
	// Enter is told of each mapping and list whose content is gone through, and returns false to
	// leave it out; may be nil.
	Enter func(n *yaml.Node) bool

	taken map[string]bool
	open  map[*yaml.Node]bool // those around
	seen  map[*yaml.Node]bool
}

// Entries returns the entries of a mapping.
func (m Mapping) Entries(mapping *yaml.Node) []Entry {
	m.taken, m.open, m.seen = map[string]bool{}, map[*yaml.Node]bool{}, map[*yaml.Node]bool{}
	return m.entries(mapping)
}

func (m *Mapping) entries(mapping *yaml.Node) (all []Entry) {
	if !m.enter(mapping) {
		return nil
	}
	m.seen[mapping], m.open[mapping] = true, true
	defer delete(m.open, mapping)
	own, values := m.own(mapping)
	for i, key := range own {
		switch {
		case key == nil:
		case IsMerge(key):
			all = append(all, m.merged(values[i])...)
		default:
			all = append(all, Entry{Target(key).Value, key, values[i]})
		}
	}
	return all
}

func (m *Mapping) enter(n *yaml.Node) bool { return m.Enter == nil || m.Enter(n) }

// own checks the keys of one mapping and claims their names. A key that does not count, because it
// is no name or because an enclosing or earlier mapping has it, is nil.
func (m *Mapping) own(mapping *yaml.Node) (keys, values []*yaml.Node) {
	type identity struct {
		name  string
		merge bool // "<<" in quotes is a name
	}
	first := map[identity]*yaml.Node{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		id := identity{Target(key).Value, IsMerge(key)}
		values = append(values, mapping.Content[i+1])
		if Target(key).Kind != yaml.ScalarNode {
			m.Wrong(NoName, key, nil)
			keys = append(keys, nil)
			continue
		}
		if earlier := first[id]; earlier != nil {
			m.Wrong(Twice, key, earlier)
		} else if first[id] = key; !id.merge {
			if m.Name != nil {
				m.Name(key)
			}
			if m.taken[id.name] {
				key = nil
			}
			m.taken[id.name] = true
		}
		keys = append(keys, key)
	}
	return keys, values
}

// merged lists what the value of a "<<" adds.
func (m *Mapping) merged(value *yaml.Node) (all []Entry) {
	sources := []*yaml.Node{value}
	if n := Target(value); n.Kind == yaml.SequenceNode {
		if !m.enter(n) {
			return nil
		}
		sources = n.Content
	}
	for _, source := range sources {
		switch n := Target(source); {
		case n.Kind != yaml.MappingNode:
			m.Wrong(NoMapping, source, nil)
		case m.open[n]:
			m.Wrong(InItself, n, nil)
		case !m.seen[n]:
			all = append(all, m.entries(n)...)
		}
	}
	return all
}

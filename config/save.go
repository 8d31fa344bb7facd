package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/infra/host"
	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// heading begins a file that Save makes.
const heading = `# The options of a cluster, saved by infrainit. "infrainit -f" takes them from here; a flag beside -f wins.
# What else can stand here, also for single hosts, is in docs/config.md.

`

// Save writes the options into the file; home is what a leading ~/ in it stands for. Options that
// are the default again go away. All else in the file stays, but for blank lines, spaces, and a
// comment behind an opening bracket, which the YAML library does not keep. Save writes nothing
// when nothing changes, and else the whole file at once: a reader sees the old one or the new one.
// The file keeps its mode, a new one has 0644: nothing in it is secret.
//
// The error is a fault.List when the file has faults or cannot be changed without changing more
// than the options.
func Save(file, home string, o Options) error {
	c, err := prepare(file, home, o)
	if err != nil || bytes.Equal(c.before, c.after) {
		return err
	}
	if err := replace(c.file, c.after, c.mode); err != nil {
		return fmt.Errorf("save the options in %s: %w", c.file, err)
	}
	return nil
}

// Check returns the error with which Save would refuse the options, and writes nothing.
func Check(file, home string, o Options) error {
	_, err := prepare(file, home, o)
	return err
}

// change is what Save does to a file.
type change struct {
	file          string // links resolved
	before, after []byte
	mode          fs.FileMode
}

func prepare(file, home string, o Options) (c change, err error) {
	c = change{file: file, mode: 0o644}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		c.file = real
	}
	c.before, err = readText(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		c.before = []byte(heading)
	} else if err != nil {
		return c, unreadable(c.file, err)
	} else if info, err := os.Stat(c.file); err == nil {
		c.mode = info.Mode().Perm()
	}
	c.after, err = edit(c.file, c.before, o, folders{filepath.Dir(c.file), home})
	return c, err
}

// replace writes a file beside the old one, makes it last, and puts it in the old one's place.
func replace(file string, data []byte, mode fs.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// edit returns the text with its options as o has them. What it made is read again and compared:
// where an option is entangled with something else, as by an anchor, it gives up and says so.
func edit(file string, data []byte, o Options, at folders) ([]byte, error) {
	before := readYAML(file, data, at)
	was, err := before.options()
	if err != nil {
		return nil, err
	}
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	if before.root != nil {
		mapping = before.root.Content[0]
	}
	if len(mapping.Content) == 0 {
		mapping.Style = 0 // {} becomes a key to a line
	}
	same := true
	for _, row := range options {
		if row.path { // in the form that it is read back in
			f := reflect.ValueOf(&o).Elem().Field(row.field)
			f.SetString(at.resolve(at.relative(f.String())))
		}
		want := row.words(o)
		names := before.values[row.name].words // of hosts, which mean others in another list
		if slices.Equal(row.words(was), want) &&
			!(row.positions && !slices.Equal(host.Numbers(was.Hosts, names),
				host.Numbers(o.Hosts, names))) {
			continue
		}
		if row.path && len(want) > 0 {
			want[0] = at.relative(want[0])
		}
		setKey(mapping, row, want)
		same = false
	}
	if same {
		return data, nil
	}
	result, err := encode(before.root, mapping, data)
	after := readYAML(file, result, at)
	is, faults := after.options()
	if err == nil && faults == nil && sameOptions(is, o) &&
		slices.EqualFunc(before.overrides, after.overrides, override.same) {
		return result, nil
	}
	return nil, fault.List{{File: file,
		Problem: "the options cannot be saved without changing more than them",
		Remedy:  "write each on a line of its own, such as master: 1, without anchors and tags"}}
}

// encode writes the document, or the mapping below a text that has nothing but comments.
func encode(root, mapping *yaml.Node, text []byte) ([]byte, error) {
	var b bytes.Buffer
	if root == nil {
		b.Write(text)
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			b.WriteByte('\n')
		}
		root = mapping
	}
	plainMerges(root)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(root)
	return b.Bytes(), err
}

// plainMerges has the encoder write << as it was read, not as !!merge <<.
func plainMerges(n *yaml.Node) {
	if yamlfile.IsMerge(n) {
		n.Tag = ""
	}
	for _, c := range n.Content {
		plainMerges(c)
	}
}

// setKey gives an option of a mapping the words, or takes it out when there are none.
func setKey(mapping *yaml.Node, o option, words []string) {
	at, last := -1, len(mapping.Content) // of the key, and behind the last option
	for i := 0; i < len(mapping.Content); i += 2 {
		name := yamlfile.Target(mapping.Content[i]).Value
		if name == o.name {
			at = i
		}
		if named(options, name) != nil {
			last = i + 2
		}
	}
	switch {
	case at < 0 && len(words) > 0:
		mapping.Content = slices.Insert(mapping.Content, last, scalar(o.name), newValue(o, words))
	case at < 0:
	case len(words) == 0:
		remove(mapping, at, 2)
	case o.kind.list && mapping.Content[at+1].Kind == yaml.SequenceNode:
		setElements(mapping.Content[at+1], words)
	default:
		old, value := mapping.Content[at+1], newValue(o, words)
		value.HeadComment, value.LineComment, value.FootComment =
			old.HeadComment, old.LineComment, old.FootComment
		mapping.Content[at+1] = value
	}
}

// setElements gives a list the words. Elements that stay keep their comments.
func setElements(list *yaml.Node, words []string) {
	for i := len(list.Content) - 1; i >= 0; i-- {
		if !slices.Contains(words, yamlfile.Target(list.Content[i]).Value) {
			remove(list, i, 1)
		}
	}
	old := list.Content
	list.Content = nil
	for _, w := range words {
		element := scalar(w)
		for _, e := range old {
			if yamlfile.Target(e).Value == w {
				element = e
			}
		}
		list.Content = append(list.Content, element)
	}
}

// remove takes n nodes out. Comments on lines of their own stay, with the node after or before.
func remove(parent *yaml.Node, i, n int) {
	var comments []string
	for _, gone := range parent.Content[i : i+n] {
		comments = append(comments, ownLines(gone)...)
	}
	parent.Content = slices.Delete(parent.Content, i, i+n)
	switch {
	case i < len(parent.Content):
		next := parent.Content[i]
		next.HeadComment = joinComments(append(comments, next.HeadComment)...)
	case i > 0:
		last := parent.Content[i-n]
		last.FootComment = joinComments(append([]string{last.FootComment}, comments...)...)
	default:
		parent.HeadComment = joinComments(append([]string{parent.HeadComment}, comments...)...)
	}
}

// ownLines returns the comments of a node and of those in it that have lines of their own.
func ownLines(n *yaml.Node) []string {
	comments := []string{n.HeadComment}
	for _, c := range n.Content {
		comments = append(comments, ownLines(c)...)
	}
	return append(comments, n.FootComment)
}

func joinComments(comments ...string) string {
	return strings.Join(slices.DeleteFunc(comments, func(c string) bool { return c == "" }), "\n")
}

func newValue(o option, words []string) *yaml.Node {
	if !o.kind.list || len(words) == 1 && words[0] == o.kind.none {
		return scalar(words[0])
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	setElements(list, words)
	return list
}

// scalar returns a text, in quotes where it would be read as no value.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if slices.Contains([]string{"null", "Null", "NULL", "~"}, text) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// options returns those of the text alone, and all that is wrong in it.
func (d *document) options() (Options, error) {
	l := &loader{at: d.at, faults: slices.Clone(d.Faults)}
	o := l.settle(d.values)
	return o, l.faults.Err()
}

func sameOptions(a, b Options) bool {
	return !slices.ContainsFunc(options, func(o option) bool {
		return !slices.Equal(o.words(a), o.words(b))
	})
}

func (o override) same(other override) bool {
	return o.text == other.text && reflect.DeepEqual(o.host, other.host)
}

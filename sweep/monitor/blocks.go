package monitor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// block is a part of a page that changes by itself. Browsers are sent those that differ from what
// they have.
type block struct {
	Name string
	HTML template.HTML
	Hash string
}

// blocks renders the blocks of a page: those of its row of pages, between the warnings of the master
// and the time.
func (m *Monitor) blocks(p page, f frame) (all []block, err error) {
	for _, name := range slices.Concat([]string{"warnings"}, p.blocks, []string{"asof"}) {
		var b bytes.Buffer
		if err := m.templates[p.name].ExecuteTemplate(&b, name, f); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b.Bytes())
		all = append(all, block{name, template.HTML(b.String()), hex.EncodeToString(sum[:6])})
	}
	return all, nil
}

// shown is what a browser has of a page: the hash of each block, and the texts that it was sent.
type shown struct {
	hashes map[string]string
	texts  map[string]string
}

var hashShape = regexp.MustCompile(`^[a-z]+=[0-9a-f]+$`)

// readShown reads "head=0a1b2c,table=3d4e5f". What else a browser says is left out.
func readShown(text string) shown {
	s := shown{map[string]string{}, map[string]string{}}
	for one := range strings.SplitSeq(text, ",") {
		if hashShape.MatchString(one) {
			name, hash, _ := strings.Cut(one, "=")
			s.hashes[name] = hash
		}
	}
	return s
}

// String writes what readShown reads.
func (s shown) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.hashes)) {
		all = append(all, name+"="+s.hashes[name])
	}
	return strings.Join(all, ",")
}

// blockChange is what makes the block that a browser has the newest one.
type blockChange struct {
	Name  string `json:"name"`
	Hash  string `json:"hash"`
	Lines []any  `json:"lines"` // see edit
}

// update returns how the blocks differ from what a browser has, which has them from then on.
func (s shown) update(all []block) (changes []blockChange) {
	for _, b := range all {
		if s.hashes[b.Name] != b.Hash {
			changes = append(changes, blockChange{b.Name, b.Hash,
				edit(s.texts[b.Name], string(b.HTML))})
			s.hashes[b.Name], s.texts[b.Name] = b.Hash, string(b.HTML)
		}
	}
	return changes
}

// edit returns how one text is made of another: a string is a line, and [from, n] are n lines of the
// text before. So a table costs the rows that changed, also where their order did.
func edit(before, after string) (lines []any) {
	old := strings.Split(before, "\n")
	at := map[string]int{}
	for i, line := range old {
		at[line] = i
	}
	for line := range strings.SplitSeq(after, "\n") {
		if n := len(lines); n > 0 {
			if run, ok := lines[n-1].([2]int); ok && run[0]+run[1] < len(old) &&
				old[run[0]+run[1]] == line {
				lines[n-1] = [2]int{run[0], run[1] + 1}
				continue
			}
		}
		if i, ok := at[line]; ok && before != "" {
			lines = append(lines, [2]int{i, 1})
		} else {
			lines = append(lines, line)
		}
	}
	return lines
}

package config

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// setItems changes a list with an item to a line: equal items stay with their comments.
func (e *editor) setItems(v *yaml.Node, first, last int, words []string) {
	items := make([]int, len(v.Content)) // lines
	for i, n := range v.Content {
		items[i] = n.Line - 1
		next := last + 1
		if i+1 < len(v.Content) {
			next = v.Content[i+1].Line - 1
		}
		simple := n.Kind == yaml.ScalarNode && n.Anchor == "" && strings.HasPrefix(strings.TrimSpace(e.lines[items[i]].text), "- ")
		for l := items[i] + 1; l < next && simple; l++ {
			simple = blank(e.lines[l].text)
		}
		if !simple {
			e.writeOut(first, last, words)
			return
		}
	}
	if len(items) == 0 {
		e.writeOut(first, last, words)
		return
	}
	dash, _, _ := strings.Cut(e.lines[items[0]].text, "-")
	kept := common(v.Content, words)
	for i, n := range v.Content {
		if !slices.ContainsFunc(kept, func(p [2]int) bool { return p[0] == i }) {
			e.lines[n.Line-1].gone = true
		}
	}
	e.insertItems(v.Content, kept, words, dash+"- ", last)
}

// insertItems puts each new word before the item that stays after it, or behind the last one.
func (e *editor) insertItems(items []*yaml.Node, kept [][2]int, words []string, dash string, last int) {
	for w, word := range words {
		i := slices.IndexFunc(kept, func(p [2]int) bool { return p[1] >= w })
		switch {
		case i >= 0 && kept[i][1] == w:
		case i >= 0:
			l := &e.lines[items[kept[i][0]].Line-1]
			l.above = append(l.above, dash+scalar(word))
		default:
			e.lines[last].below = append(e.lines[last].below, dash+scalar(word))
		}
	}
}

// common is the longest run of items that stay, in order, as pairs of places in items and words.
func common(items []*yaml.Node, words []string) (pairs [][2]int) {
	length := make([][]int, len(items)+1)
	for i := range length {
		length[i] = make([]int, len(words)+1)
	}
	for i := len(items) - 1; i >= 0; i-- {
		for j := len(words) - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if items[i].Value == words[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(items) && j < len(words); {
		switch {
		case items[i].Value == words[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// writeOut puts a list into the line of its key, in place of what is below it.
func (e *editor) writeOut(first, last int, words []string) {
	key, _, _ := strings.Cut(e.lines[first].text, ":")
	e.lines[first].text = key + ": " + list(words) + commentOf(e.lines[first].text)
	for i := first + 1; i <= last; i++ {
		e.lines[i].gone = !blank(e.lines[i].text)
	}
}

var trailing = regexp.MustCompile(`\s+#.*$`)

func commentOf(text string) string { return trailing.FindString(text) }

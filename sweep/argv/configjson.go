package argv

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

func readJSON(text []byte) (*yaml.Node, *fault.Fault) {
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		at := len(text)
		if s, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = int(s.Offset) - 1
		}
		f := &fault.Fault{Problem: "is not JSON: " + err.Error(),
			Remedy: "correct it; JSON has no comments, and no comma behind the last value"}
		places := newPlaces(text)
		f.Line, f.Column = places.moveTo(at)
		return nil, f
	}
	r := jsonReader{json.NewDecoder(bytes.NewReader(text)), newPlaces(text)}
	r.UseNumber()
	return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{r.value()}}, nil
}

// jsonReader makes nodes of a text that is JSON.
type jsonReader struct {
	*json.Decoder
	places places
}

// value reads a value, or a key. A scalar has the text that it has in the file, such as how a
// number is spelled there; keys are unquoted.
func (r *jsonReader) value() *yaml.Node {
	from := int(r.InputOffset())
	for strings.IndexByte(" \t\r\n:,", r.places.text[from]) >= 0 {
		from++
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	n.Line, n.Column = r.places.moveTo(from)
	token, _ := r.Token() // it is JSON
	n.Value = string(r.places.text[from:r.InputOffset()])
	switch v := token.(type) {
	case json.Delim:
		n.Kind = yaml.SequenceNode
		if v == '{' {
			n.Kind = yaml.MappingNode
		}
		for r.More() {
			c := r.value()
			if v == '{' && len(n.Content)%2 == 0 {
				_ = json.Unmarshal([]byte(c.Value), &c.Value)
			}
			n.Content = append(n.Content, c)
		}
		_, _ = r.Token()
	case nil:
		n.Tag = "!!null"
	case bool:
		n.Tag = "!!bool"
	case string:
		n.Tag = "!!str"
	case json.Number:
		n.Tag = "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	}
	return n
}

func setJSON(n *yaml.Node, p space.Assignment) { n.Value = literal(p) }

func writeJSON(document *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	err := json.Indent(&b, appendJSON(nil, document.Content[0]), "", "  ")
	b.WriteByte('\n')
	return b.Bytes(), err
}

func appendJSON(b []byte, n *yaml.Node) []byte {
	open, end := byte('['), byte(']')
	switch n.Kind {
	case yaml.ScalarNode:
		return append(b, n.Value...)
	case yaml.MappingNode:
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, c := range n.Content {
		switch {
		case open == '{' && i%2 == 1:
			b = append(b, ':')
		case i > 0:
			b = append(b, ',')
		}
		if open == '{' && i%2 == 0 {
			b = append(b, quoted(c.Value)...)
		} else {
			b = appendJSON(b, c)
		}
	}
	return append(b, end)
}

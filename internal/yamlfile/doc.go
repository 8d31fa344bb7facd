// Package yamlfile reads the YAML files that people write: documents as nodes, the places of nodes
// as an editor counts them, what is wrong with a text that is not YAML, and mappings with what is
// merged into them.
//
// It knows the shape of no file: those who read one say what may stand in it. A [Reader] says what
// is wrong in files whose keys are known.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// Read parses a text and returns its first documents, at most so many, each a node of kind
// DocumentNode. Where the text is not YAML it returns the first fault, without the name of the
// file.
func Read(text string, most int) ([]*yaml.Node, *fault.Fault) {
	if f := BadCharacter(text); f != nil {
		return nil, f
	}
	documents, err := Parse(text, most)
	if err != nil {
		return nil, SyntaxFault(text, err)
	}
	return documents, nil
}

// Parse is like [Read], but returns the parser's own error, and looks for no characters that YAML
// does not have.
func Parse(text string, most int) (documents []*yaml.Node, err error) {
	defer func() {
		// The parser is known to panic on some malformed input. What a person typed must not end
		// the program.
		if p := recover(); p != nil {
			documents, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for len(documents) < most {
		n := new(yaml.Node)
		if err := decoder.Decode(n); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		documents = append(documents, n)
	}
	return documents, nil
}

// WithoutMark returns a text without the byte order mark with which some editors begin a file.
func WithoutMark(text string) string { return strings.TrimPrefix(text, "\ufeff") }

package space

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// documentsOf parses the text: the first three documents, of which the third is there to be refused. When it is not YAML,
// values such as [5,20,5) are quoted and it is parsed again. The fault has no file name.
func documentsOf(text string) ([]*yaml.Node, *fault.Fault) {
	if f := badCharacter(text); f != nil {
		return nil, f
	}
	documents, err := parse(text)
	if err == nil {
		return documents, nil
	}
	if quoted := quoteIntervals(text); quoted != text {
		if documents, err = parse(quoted); err == nil {
			return documents, nil
		}
		text = quoted
	}
	return nil, syntaxFault(text, err)
}

// parse turns text into documents, each with its content.
func parse(text string) (documents []*yaml.Node, err error) {
	defer func() {
		// The parser is known to panic on some malformed input. What a person typed must not end the program.
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for len(documents) < 3 {
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

// intervalLine is "key: [start, end)" on one line, with an anchor or a tag before the value or a comment after it. The
// key begins neither an element of a list nor a flow collection.
var intervalLine = regexp.MustCompile(`^( *)((?:"[^"]*"|'[^']*'|[^\s"'#\-\[\]{}&*!|>%@` + "`" +
	`,?][^#]*?)\s*:[ \t]+)((?:[&!]\S*[ \t]+)*)(\[[^\[\]()"'#]*\))([ \t]*|[ \t]+#.*)$`)

// quoteIntervals makes a tagged, quoted string of every parameter's value that is an interval without quotes. Lines keep
// their number, keys and values their column. What is indented deeper than the first key may be the inside of a text.
func quoteIntervals(text string) string {
	var b strings.Builder
	indent := firstIndent(text)
	for len(text) > 0 {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		line := text[:end]
		if m := intervalLine.FindStringSubmatch(line); m != nil && len(m[1]) == indent {
			tag := "!interval "
			if strings.Contains(m[3], "!") {
				tag = ""
			}
			line = m[1] + m[2] + m[3] + tag + "'" + m[4] + "'" + m[5]
		}
		b.WriteString(line)
		rest := min(end+1, len(text))
		b.WriteString(text[end:rest])
		text = text[rest:]
	}
	return b.String()
}

// firstIndent is the indentation of the first line that is content.
func firstIndent(text string) int {
	lines := strings.SplitAfter(text, "\n")
	first := lines[leadingLines(text)]
	return len(first) - len(strings.TrimLeft(first, " "))
}

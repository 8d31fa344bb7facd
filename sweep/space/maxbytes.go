package space

// MaxBytes returns about how many bytes of JSON the names and values of one point have at most:
// those of every parameter's longest value, even if no point has them all.
func (s *Space) MaxBytes() (n int) {
	for i := range s.plan.parameters {
		p := &s.plan.parameters[i]
		longest := intervalBytes
		for _, values := range [][]value{p.values, p.extra} {
			for j := range values {
				longest = max(longest, jsonBytes(values[j].text))
			}
		}
		n += jsonBytes(p.name) + longest
	}
	return n
}

// intervalBytes is enough for a number of an interval.
const intervalBytes = 64

// jsonBytes returns how many bytes a text has in JSON, without its quotes.
func jsonBytes(text string) int {
	n := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == '<' || c == '>' || c == '&':
			n += len(`\u0000`) - 1
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

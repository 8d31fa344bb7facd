package worker

import "bytes"

// shortestSecret is the length in bytes from which on a secret's value is looked for in output: anything shorter would
// also hide what only looks like it.
const shortestSecret = 8

// hidden stands in output where a secret's value stood.
const hidden = "********"

// mask replaces the values of secrets in a stream, also where a value is cut between two writes. It holds back at most
// one byte less than the longest value.
type mask struct {
	secrets [][]byte
	held    []byte
}

func newMask(secrets []string) *mask {
	if len(secrets) == 0 {
		return nil
	}
	m := &mask{}
	for _, s := range secrets {
		m.secrets = append(m.secrets, []byte(s))
	}
	return m
}

// hide returns what may be shown after p arrived. It is valid until the next call.
func (m *mask) hide(p []byte) []byte {
	data := append(m.held, p...)
	for _, s := range m.secrets {
		data = bytes.ReplaceAll(data, s, []byte(hidden))
	}
	keep := m.begun(data)
	m.held = bytes.Clone(data[len(data)-keep:])
	return data[:len(data)-keep]
}

// begun is how many bytes at the end of data could be the beginning of a secret.
func (m *mask) begun(data []byte) (longest int) {
	for _, s := range m.secrets {
		for n := min(len(s)-1, len(data)); n > longest; n-- {
			if bytes.HasSuffix(data, s[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// rest returns what was held back, at the end of the stream.
func (m *mask) rest() []byte {
	held := m.held
	m.held = nil
	return held
}

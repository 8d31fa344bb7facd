package plan

import (
	"fmt"
	"io"
)

// Write prints the plan for people, a line for each step, in the order in which they could be done one by one.
func (p Plan) Write(w io.Writer) error {
	width := 0
	for _, s := range p.Steps {
		width = max(width, len(s.Host))
	}
	for _, s := range p.Steps {
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, s.Host, s.Title); err != nil {
			return err
		}
	}
	if len(p.Steps) == 0 || !p.Changes {
		_, err := io.WriteString(w, "nothing is to be changed\n")
		return err
	}
	return nil
}

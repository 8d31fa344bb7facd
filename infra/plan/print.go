package plan

import (
	"fmt"
	"io"
)

// Write prints the plan for people: a line for each step, in the order in which they could be done
// one by one, and a line for each image.
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
		if _, err := io.WriteString(w, "nothing is to be changed\n"); err != nil {
			return err
		}
	}
	for _, i := range p.Record.Images {
		if _, err := fmt.Fprintf(w, "image %s is %s\n", i.Ref, i); err != nil {
			return err
		}
	}
	return nil
}

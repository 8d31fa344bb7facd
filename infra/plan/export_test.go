package plan

import (
	"fmt"
	"io"
	"strings"

	"mlframework/infra/layout"
)

// NamedSteps returns the steps of a plan with all that they name as needs, also what is not in the
// plan.
func NamedSteps(c Cluster, found map[string]Found, old layout.Record) []Step {
	return newMaker(c, found, old).steps
}

// Detail prints the plan with what every step waits for.
func (p Plan) Detail(w io.Writer) error {
	for _, s := range p.Steps {
		if _, err := fmt.Fprintf(w, "%-28s %s\n", s.ID, s.Title); err != nil {
			return err
		}
		if len(s.Needs) == 0 {
			continue
		}
		after := strings.Join(s.Needs, ", ")
		if _, err := fmt.Fprintf(w, "%-28s   after %s\n", "", after); err != nil {
			return err
		}
	}
	return nil
}

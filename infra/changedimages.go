package infra

import (
	"context"
	"fmt"
	"strings"

	"mlframework/infra/plan"
)

// ImageChange says that tasks that have not ended would run in another image than they were
// submitted for.
type ImageChange struct {
	Images []string // "OLD -> NEW"
	Sweeps []Unfinished
}

func (c *ImageChange) Error() string { return c.tasks() + ": " + strings.Join(c.Images, ", ") }

func (c *ImageChange) tasks() string {
	const shown = 5
	var all []string
	for _, s := range c.Sweeps[:min(len(c.Sweeps), shown)] {
		what := "tasks"
		if s.Tasks == 1 {
			what = "task"
		}
		all = append(all, fmt.Sprintf("%d %s of %s", s.Tasks, what, s.Sweep))
	}
	if more := len(c.Sweeps) - shown; more > 0 {
		all = append(all, fmt.Sprintf("those of %d more sweeps", more))
	}
	return strings.Join(all, " and ") + " have not finished, and would run in another image"
}

// checkImages refuses a plan that changes the image of workers while tasks have not ended. A master
// that does not answer cannot tell.
func (u *up) checkImages(ctx context.Context, p plan.Plan) error {
	if len(p.Images) == 0 || u.request.Force || !u.masterRuns() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	sweeps, err := u.o.Control.Unfinished(ctx, u.connected[u.request.Master].api())
	if err != nil || len(sweeps) == 0 {
		return nil
	}
	return &ImageChange{p.Images, sweeps}
}

package infra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mlframework/infra/plan"
)

// StepError is a step that failed.
type StepError struct {
	Host, Step string
	Err        error
}

func (e *StepError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Host, e.Step, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

// end is how a step ended.
type end struct {
	step plan.Step
	took time.Duration
	err  error
}

// execute carries out steps: each as soon as those that it needs have ended, however many at once.
// After a failure those that run go on to their end, so that what is wrong on several hosts is told
// at once, and nothing more begins. The errors are *StepErrors, by host, or ctx's alone.
func execute(ctx context.Context, steps []plan.Step,
	now func() time.Time, do func(context.Context, plan.Step) error,
	did func(plan.Step, time.Duration)) error {
	waiting := slices.Clone(steps)
	ended := map[string]bool{}
	ends := make(chan end)
	var errs []*StepError
	running := 0
	for {
		if len(errs) == 0 && ctx.Err() == nil {
			waiting = slices.DeleteFunc(waiting, func(s plan.Step) bool {
				if slices.ContainsFunc(s.Needs, func(id string) bool { return !ended[id] }) {
					return false
				}
				running++
				go func() {
					begun := now()
					err := do(ctx, s)
					ends <- end{s, now().Sub(begun), err}
				}()
				return true
			})
		}
		if running == 0 {
			break
		}
		e := <-ends
		running--
		if e.err != nil {
			errs = append(errs, &StepError{e.step.Host, e.step.Title, e.err})
			continue
		}
		ended[e.step.ID] = true
		did(e.step, e.took)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(errs) == 0 && len(waiting) > 0 {
		ids := make([]string, len(waiting))
		for i, s := range waiting {
			ids[i] = s.ID
		}
		return fmt.Errorf("the steps need each other in a circle: %s", strings.Join(ids, ", "))
	}
	return joined(errs)
}

func joined(errs []*StepError) error {
	slices.SortStableFunc(errs, func(a, b *StepError) int {
		return strings.Compare(a.Host, b.Host)
	})
	all := make([]error, len(errs))
	for i, e := range errs {
		all[i] = e
	}
	return errors.Join(all...)
}

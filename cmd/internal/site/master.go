package site

import (
	"errors"
	"net/http"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
)

// flags are options that the parameters of questions come from.
var flags = map[string]string{"where": "--where", "sort": "--sort", "missing": "--missing",
	"by": "--group-by", "of": "--metrics"}

// ExplainMaster gives what a master answered, or that it did not, its words and exit code; nil when
// err is neither. Program is how the user calls run-tasks for this master, in hints.
func ExplainMaster(err error, program string) error {
	if _, worded := errors.AsType[*cli.Error](err); worded || err == nil {
		return err
	}
	if e, ok := errors.AsType[*api.UnknownOutcome](err); ok {
		return &cli.Error{Code: cli.Unreachable, Err: errors.New(e.Error()),
			Remedy: "check before you retry: " + program + " " + e.CheckCommand}
	}
	if e, ok := errors.AsType[*api.Unreachable](err); ok {
		return &cli.Error{Code: cli.Unreachable, Err: errors.New(e.Error()), Remedy: e.Remedy}
	}
	e, ok := errors.AsType[*api.Error](err)
	if !ok {
		return nil
	}
	text := e.Text
	if flag, ok := flags[e.Parameter]; ok {
		text = flag + ": " + text
	}
	code := cli.Usage
	switch {
	case e.Status == http.StatusServiceUnavailable:
		code = cli.Unreachable
	case e.Status >= http.StatusInternalServerError:
		code = cli.Machine
	}
	return &cli.Error{Code: code, Err: errors.New(text), Remedy: e.Remedy}
}

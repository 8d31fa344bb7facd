package site

import (
	"errors"
	"net/http"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/remote"
	"mlframework/sweep/api"
)

// flags maps parameters of the API to the options that set them.
var flags = map[string]string{"where": "--where", "sort": "--sort", "missing": "--missing",
	"by": "--group-by", "of": "--metrics"}

// ExplainMaster returns an error of the API with its words and exit code, also that the master does
// not answer; nil if err is none of these. Hints name program as the command to run.
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
	if e, away := errors.AsType[*remote.Error](err); away { // its host, or no master is there
		return &cli.Error{Code: cli.Unreachable, Err: e}
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
	case e.Status == http.StatusGone:
		code = cli.Failed
	case e.Status >= http.StatusInternalServerError:
		code = cli.Machine
	}
	return &cli.Error{Code: code, Err: errors.New(text), Remedy: e.Remedy}
}

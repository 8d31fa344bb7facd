package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/secret"
)

// A master that has the values of a sweep's secrets no more gets those of the environment; where
// they are not set, the error has the master's cause, what is not set, and what to do.
func TestSecretsThatTheMasterHasNoMore(t *testing.T) {
	const key = "A_KEY_OF_THIS_TEST"
	gone := &api.Error{Status: http.StatusConflict, Parameter: api.SecretsField,
		Text: "train-1 names secrets: they were removed after 14 days"}
	var sent []secret.Values
	resume := func(v secret.Values) (api.StartedSweep, error) {
		if sent = append(sent, v); len(v) == 0 {
			return api.StartedSweep{}, gone
		}
		return api.StartedSweep{}, nil
	}
	t.Setenv(key, "")
	_, err := withSecrets([]string{key}, resume)
	e, is := errors.AsType[*cli.Error](err)
	if !is || e.Code != cli.Invalid || !strings.Contains(e.Error(), "removed after 14 days") ||
		!strings.Contains(e.Error(), "not set here: "+key) ||
		!strings.Contains(e.Remedy, "export "+key+"=") || len(sent) != 1 {
		t.Errorf("it is %v; asked %d times", err, len(sent))
	}
	t.Setenv(key, "recognisable-value")
	sent = nil
	if _, err := withSecrets([]string{key}, resume); err != nil || len(sent) != 2 ||
		sent[1][key] != "recognisable-value" {
		t.Errorf("%v, sent %d times", err, len(sent))
	}
}

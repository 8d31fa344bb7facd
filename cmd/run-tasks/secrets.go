package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/secret"
)

// secretValues reads the values of secrets from the environment. The error names those that are not
// set.
func secretValues(names []string) (secret.Values, error) {
	if err := secretsSet(names); err != nil || len(names) == 0 {
		return nil, err
	}
	values := secret.Values{}
	for _, name := range names {
		values[name] = os.Getenv(name)
	}
	return values, nil
}

// secretsSet reports the secrets that a sweep needs and that are not in the environment.
func secretsSet(names []string) error {
	unset := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return os.Getenv(name) != ""
	})
	if len(unset) == 0 {
		return nil
	}
	return &cli.Error{Code: cli.Invalid, Err: fmt.Errorf("tasks.yml names secrets that are not "+
		"set here: %s", strings.Join(unset, ", ")),
		Remedy: "set them in the environment: export " + unset[0] + "=..."}
}

// withSecrets lets a sweep of a master go on. Only a master that has the values of its secrets no
// more is sent those of this environment: where they are not set, the error says why they are
// needed.
func withSecrets(names []string, goOn func(secret.Values) (api.StartedSweep,
	error)) (api.StartedSweep, error) {
	b, err := goOn(nil)
	refusal, refused := errors.AsType[*api.Error](err)
	if !refused || refusal.Parameter != api.SecretsField || len(names) == 0 {
		return b, err
	}
	values, unset := secretValues(names)
	if e, is := errors.AsType[*cli.Error](unset); is {
		return b, &cli.Error{Code: e.Code, Err: fmt.Errorf("%s; %w", refusal.Text, e.Err),
			Remedy: e.Remedy + ", and call this again"}
	}
	return goOn(values)
}

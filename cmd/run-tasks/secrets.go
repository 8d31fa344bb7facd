package main

import (
	"errors"
	"os"

	"mlframework/sweep/api"
	"mlframework/sweep/secret"
)

// secretValues reads the values of secrets from the environment. The error names those that are not set.
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

// withSecrets lets a sweep of a master go on. Only a master that has the values of its secrets no more is sent those of this
// environment.
func withSecrets(names []string, goOn func(secret.Values) (api.Begun, error)) (api.Begun, error) {
	b, err := goOn(nil)
	if e, refused := errors.AsType[*api.Error](err); !refused || e.Parameter != api.SecretsField || len(names) == 0 {
		return b, err
	}
	values, err := secretValues(names)
	if err != nil {
		return b, err
	}
	return goOn(values)
}

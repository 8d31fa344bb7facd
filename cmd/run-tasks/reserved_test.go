package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/internal/site"
)

// Names of commands are reserved, here and for infrainit.
func TestReservedNames(t *testing.T) {
	t.Parallel()
	var names []string
	for _, one := range new(command).commands() {
		names = append(names, one.Name)
	}
	if d := cmp.Diff(append(names, "help"), site.Reserved()); d != "" {
		t.Error(d)
	}
}

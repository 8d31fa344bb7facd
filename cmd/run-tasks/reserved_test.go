package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/internal/site"
)

// infrainit refuses the names that this program refuses.
func TestReservedNames(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff(new(command).reserved(), site.Reserved()); d != "" {
		t.Error(d)
	}
}

// Package main_test is the person at a laptop: it runs the real program, and infra-clean, against
// hosts of a lab.
//
// FAULTS=long runs what is rare or slow, too.
package main_test

import (
	"os"
	"testing"
)

// slow leaves a test out that takes a minute or more, unless there is time.
func slow(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skip("NOT TESTED: it takes minutes; FAULTS=long runs it")
	}
}

// long tells whether there is time for what is rare or slow.
func long() bool { return os.Getenv("FAULTS") == "long" }

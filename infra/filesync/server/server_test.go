package server

import (
	"io/fs"
	"syscall"
	"testing"
)

// Who has no room for files is told what helps here.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	for _, number := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		want := "write x: " + number.Error() +
			": free some space there, or remove old revisions, and run it again"
		got := asError(&fs.PathError{Op: "write", Path: "x", Err: number})
		if got.Error() != want {
			t.Errorf("it says %q, not %q", got, want)
		}
	}
}

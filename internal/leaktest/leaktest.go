// Package leaktest finds goroutines that tests leave behind.
//
// Tests of every package may import it. It imports nothing of this project.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is for how long a goroutine may be on its way out: goleak itself waits less than half a
// second, which on a busy machine one may wait for a processor.
const patience = 30 * time.Second

// Find is goleak.Find, tried again until there is no leak or half a minute is over.
func Find(options ...goleak.Option) error {
	for end := time.Now().Add(patience); ; {
		err := goleak.Find(options...)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// Verify fails a test after which goroutines are left.
func Verify(t testing.TB, options ...goleak.Option) {
	t.Helper()
	if err := Find(options...); err != nil {
		t.Error(err)
	}
}

// Main runs the tests of a package and returns the exit code: not 0 when goroutines are left after
// them.
func Main(m *testing.M) int {
	code := m.Run()
	if code != 0 {
		return code // a test that failed may well have left something
	}
	if err := Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

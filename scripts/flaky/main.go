// Command flaky tells what to make of tests that failed and then passed when they were run again:
//
//	flaky FILE
//
// FILE holds the events of `go test -json`, those of the tests that were run again behind the
// others, as gotestsum --jsonfile writes them. flaky prints each test that failed and passed later,
// with what it printed when it failed. Its exit code is 1 if a failure was of a kind that passing
// later does not excuse: a data race, a leaked goroutine, a panic, a time limit, a broken invariant,
// or a package that failed without a test that failed.
//
// scripts/test runs it. It imports nothing of this project.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// inexcusable is what the output of a failure has in it that counts although the test passes later.
var inexcusable = []string{
	"WARNING: DATA RACE",
	"found unexpected goroutines", // goleak
	"panic: ",                     // also a time limit: "panic: test timed out after 15m0s"
	"fatal error: ",               // of Go's runtime
	"violations of what is promised",
}

// event is a line of `go test -json`; see `go doc test2json`.
type event struct{ Action, Package, Test, Output string }

// name is a test in its package; its test is "" for what the package itself prints.
type name struct{ pkg, test string }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: flaky FILE")
		os.Exit(2)
	}
	file, err := os.Open(os.Args[1])
	if err == nil {
		err = report(os.Stdout, file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// report prints the tests that failed and passed later. The error names what cannot be excused.
func report(out io.Writer, events io.Reader) error {
	output := map[name]*strings.Builder{} // of the newest run
	failures := map[name]string{}         // of tests that have not passed since
	failedIn := map[string]int{}          // tests that failed, by package, in its newest run
	flaky := map[name]string{}
	var errs []error
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read events of go test: %w", err)
		}
		n := name{e.Package, e.Test}
		if output[n] == nil {
			output[n] = new(strings.Builder)
		}
		switch e.Action {
		case "start", "run":
			output[n].Reset()
		case "output":
			output[n].WriteString(e.Output)
		case "pass":
			if text, failed := failures[n]; failed {
				flaky[n] = text
				delete(failures, n)
			}
		case "fail":
			text := output[n].String()
			errs = append(errs, excuse(n, text))
			if n.test != "" {
				failures[n] = text
				failedIn[n.pkg]++
				continue
			}
			if failedIn[n.pkg] == 0 {
				errs = append(errs, fmt.Errorf("%s failed, but none of its tests: %s", n.pkg, text))
			}
			failedIn[n.pkg] = 0
		}
	}
	for _, n := range inOrder(flaky) {
		fmt.Fprintf(out, "FLAKY: %s in %s failed, and passed when it was run again:\n%s\n", n.test,
			n.pkg, flaky[n])
	}
	for _, n := range inOrder(failures) { // also one that was skipped when it was run again
		errs = append(errs, fmt.Errorf("%s %s failed, and has not passed since", n.pkg, n.test))
	}
	return errors.Join(errs...)
}

// inOrder returns the keys, sorted.
func inOrder(all map[name]string) []name {
	return slices.SortedFunc(maps.Keys(all), func(a, b name) int {
		return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.test, b.test))
	})
}

// excuse returns an error if a failure counts whatever happens later.
func excuse(n name, output string) error {
	for _, mark := range inexcusable {
		if strings.Contains(output, mark) {
			return fmt.Errorf("%s %s: %q counts also if the test passes when it is run again", n.pkg,
				n.test, mark)
		}
	}
	return nil
}

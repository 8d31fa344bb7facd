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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// inexcusable is what the output of a failure has in it that counts although the test passes later.
var inexcusable = []string{
	"WARNING: DATA RACE",
	"found unexpected goroutines", // goleak
	"panic: ",                     // also a time limit: "panic: test timed out after 25m0s"
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
	output := map[name]string{} // of the run that is under way
	failures := map[name]string{}
	failedIn := map[string]int{} // tests that failed, by package, in its run under way
	var flaky []name
	var errs []error
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read events of go test: %w", err)
		}
		n := name{e.Package, e.Test}
		switch e.Action {
		case "start", "run":
			output[n] = ""
		case "output":
			output[n] += e.Output
		case "pass":
			if _, failed := failures[n]; failed && n.test != "" {
				flaky = append(flaky, n)
			}
		case "fail":
			errs = append(errs, excuse(n, output[n]))
			if failures[n] = output[n]; n.test != "" {
				failedIn[n.pkg]++
				continue
			}
			if failedIn[n.pkg] == 0 {
				errs = append(errs, fmt.Errorf("%s failed, but none of its tests: %s", n.pkg, output[n]))
			}
			failedIn[n.pkg] = 0
		}
	}
	slices.SortFunc(flaky, func(a, b name) int {
		return strings.Compare(a.pkg+" "+a.test, b.pkg+" "+b.test)
	})
	for _, n := range slices.Compact(flaky) {
		fmt.Fprintf(out, "FLAKY: %s in %s failed, and passed when it was run again:\n%s\n", n.test,
			n.pkg, failures[n])
	}
	return errors.Join(errs...)
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

// Package scripts finds the project's scripts for the tests that run them. Only tests, and what
// tests are made of, import it.
package scripts

import (
	"fmt"
	"os"
	"path/filepath"
)

// Path is the path of a script, from the current folder, in which a test runs, upwards. It fails
// outside the project.
func Path(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "scripts", name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find scripts/%s: no go.mod above the folder of the test", name)
		}
	}
}

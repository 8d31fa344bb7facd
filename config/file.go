package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"mlframework/sweep/fault"
)

// readText reads a file that a person wrote: one that is small.
func readText(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("it is longer than %d bytes", maxBytes)
	}
	return data, err
}

func unreadable(name string, err error) fault.List {
	var op *fs.PathError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fault.List{{File: name, Problem: "cannot be read: " + err.Error(), Remedy: "name another with --config, or put a readable file there"}}
}

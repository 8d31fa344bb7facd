package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/store"
)

// storeError says what a user can do about a store that cannot be opened.
func storeError(err error) error {
	if inUse, ok := errors.AsType[*store.InUse](err); ok {
		return &cli.Error{Code: cli.Machine, Err: inUse,
			Remedy: "wait for that run (`run-tasks follow`), stop it (`run-tasks cancel` or " +
				"`run-tasks pause`), or use another folder"}
	}
	_, file := errors.AsType[*fs.PathError](err)
	if !file || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return err
	}
	dir, _ := os.Getwd()
	remedy := "run it from a folder that you may write to; -d names the project"
	if errors.Is(err, syscall.ENOTDIR) {
		remedy = "move that file away; or run it from another folder, -d names the project"
	}
	return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("the store and the outputs cannot be "+
		"kept in the current folder, %s: %w", dir, err), Remedy: remedy}
}

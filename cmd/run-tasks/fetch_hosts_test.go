package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/filesync"
)

// Where there is no terminal to ask on, much is fetched with --yes only.
func TestMuchIsNotFetchedWithoutAWord(t *testing.T) {
	t.Parallel()
	large := &filesync.LargeFetchError{FetchSize: filesync.FetchSize{Files: 3, Bytes: 12e9},
		Folder: "outputs", Free: 40e9}
	for _, yes := range []bool{true, false} {
		to := &terminal{stdin: strings.NewReader("y\n"), stderr: os.Stderr}
		err := confirmsFetch(t.Context(), to, yes)(large)
		e, refused := errors.AsType[*cli.Error](err)
		if yes && err != nil || !yes && (!refused || e.Code != cli.Usage ||
			!strings.Contains(e.Error(), "12.0 GB are to be fetched, in 3 files; outputs has "+
				"40.0 GB") ||
			!strings.Contains(e.Remedy, "--yes")) {
			t.Errorf("yes %v: %v", yes, err)
		}
	}
}

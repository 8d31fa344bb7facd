package filesync_test

import (
	"os"
	"strings"
	"testing"

	"mlframework/infra/filesync"
)

// A file that is all holes takes no room on its host. What has no room here is not begun.
func TestFetchOfMoreThanTheDiskHolds(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/big": "", "0/small": "x"})
	if err := os.Truncate(outputs+"/0/big", 8<<40); err != nil {
		t.Skipf("NOT TESTED: this file system has no files of 8 TiB: %v", err)
	}
	dir := t.TempDir()
	fetch := func(files ...string) error {
		_, err := connect(t, root).Fetch(t.Context(),
			filesync.FetchOptions{Sweep: "run-1", Dir: dir, Files: files})
		return err
	}
	if err := fetch(); err == nil || !strings.Contains(err.Error(), "8796.1 GB to fetch") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir + "/run-1/0/small"); err == nil {
		t.Error("it has begun")
	}
	must(t, fetch("small"))
}

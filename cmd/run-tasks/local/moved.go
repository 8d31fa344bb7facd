package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"mlframework/cmd/internal/cli"
)

// folderLook is how often the runner looks whether its folder was moved.
const folderLook = time.Second

// watchFolder ends the runner when its folder is moved: attempts are given absolute paths, so those
// that begin afterwards would be lost, one by one.
func (r *Runner) watchFolder() {
	path, err := os.Getwd()
	if err != nil {
		return
	}
	here, err := os.Stat(".")
	if err != nil {
		return
	}
	tick := time.NewTicker(folderLook)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-r.ctx.Done():
			return
		}
		now, err := os.Stat(path)
		moved := errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(here, now)
		if moved && r.store.Check() == nil { // else it was removed
			r.cancel(&cli.Error{Code: cli.Machine,
				Err:    fmt.Errorf("the folder %s was moved while its sweeps ran", path),
				Remedy: "`run-tasks resume`, where the folder is now, runs the rest"})
			return
		}
	}
}

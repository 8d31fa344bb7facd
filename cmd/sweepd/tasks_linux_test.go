package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// revision is the one of all sweeps here: their command needs no files.
const revision = "none"

// script is what every task runs: it writes down its start, says which attempt it is, does what is
// asked, and says that it is done.
func script(do string) string {
	return invariants.Note + "\necho \"attempt $ATTEMPT\"\n" + do + "\necho done\n"
}

// What tasks do between that.
const (
	// short is some milliseconds, and now and then half a second; some ignore SIGTERM, and some
	// leave a process in a session of its own, which holds the output.
	short = `case $TASK_INDEX in
*3) setsid sleep 300 & ;;
*5) trap '' TERM ;;
*7) sleep 0.5 ;;
esac
sleep 0.03`
	// held lasts until the test lets it go on, and ends with SIGTERM.
	held = `while [ ! -e "$GO" ]; do sleep 0.05; done`
	// stubborn is held, and ignores SIGTERM, from when it says so.
	stubborn = "trap '' TERM; echo deaf\n" + held
)

// submission is a sweep of so many tasks that do something.
func (c *cluster) submission(name, do string, tasks int64) api.Submission {
	c.t.Helper()
	parameters := fmt.Sprintf("n: \"[0,%d)\"\n", tasks)
	s, _, err := space.Read("parameters.yml", []byte(parameters))
	if err != nil {
		c.t.Fatal(err)
	}
	return api.Submission{Code: revision, Record: core.Record{
		Version: task.Version, Space: s, Retry: task.Retry{Lost: 100}, Project: c.dir,
		Recipe: task.Recipe{Definition: name, Command: []string{"sh", "-c", script(do), "task"},
			Revision: revision,
			Grace:    time.Second, Env: map[string]string{"STARTS": c.path("starts"),
				"GO": c.path("go")}},
	}}
}

// submit submits a sweep, and notes that it was confirmed.
func (c *cluster) submit(s api.Submission) (id string) {
	c.t.Helper()
	made, err := c.client.Submit(c.t.Context(), s, "", "")
	if err != nil {
		c.t.Fatal(err)
	}
	c.seen.Confirmed[made.ID] = made.Total
	return made.ID
}

// sweep submits so many tasks that do something.
func (c *cluster) sweep(name, do string, tasks int64) (id string) {
	c.t.Helper()
	return c.submit(c.submission(name, do, tasks))
}

// letGo lets tasks that are held go on.
func (c *cluster) letGo() {
	c.t.Helper()
	if err := os.WriteFile(c.path("go"), nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// stands waits until so many tasks of a sweep are in a state.
func (c *cluster) stands(id string, want core.Counts) {
	c.t.Helper()
	var counts core.Counts
	eventually(c.t, patience, fmt.Sprintf("%s has %v", id, want), func() bool {
		counts = c.stored(id).Head.Counts()
		return counts == want
	})
}

// succeeded checks that all tasks of a sweep did.
func (c *cluster) succeeded(id string) {
	c.t.Helper()
	h := c.stored(id).Head
	if counts := h.Counts(); counts[task.Succeeded] != h.Total {
		c.t.Errorf("of %d tasks of %s, %d succeeded: %v", h.Total, id, counts[task.Succeeded],
			counts)
	}
}

// output finds what an attempt printed, by its first line.
func (c *cluster) output(id task.ID, t core.Attempt) (stdout, stderr int64, err error) {
	files, err := filepath.Glob(c.path(t.Worker, id.Sweep, fmt.Sprint(id.Index), "stdout*.log"))
	if err != nil {
		return 0, 0, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, 0, err
		}
		if strings.HasPrefix(string(text), fmt.Sprintf("attempt %d\n", t.Number)) {
			other, err := os.Stat(strings.Replace(file, "stdout", "stderr", 1))
			if err == nil {
				stderr = other.Size()
			} else if errors.Is(err, os.ErrNotExist) {
				err = nil // nothing was printed there
			}
			return int64(len(text)), stderr, err
		}
	}
	if t.Outcome.Stdout.Bytes == 0 {
		return 0, 0, nil
	}
	return 0, 0, fmt.Errorf("none of %d files begins with its number", len(files))
}

// superseded are the results of a sweep that came too late, by task.
func (c *cluster) superseded(id string) map[int64][]core.Attempt {
	c.t.Helper()
	late := map[int64][]core.Attempt{}
	c.read(func(ctx context.Context, r *store.Reader) error {
		s, err := r.Sweep(ctx, id)
		for n := range s.Head.Total {
			var tries []core.Attempt
			if err == nil {
				tries, err = r.EarlierAttempts(ctx, s, n)
			}
			for _, t := range tries {
				if t.Superseded {
					late[n] = append(late[n], t)
				}
			}
		}
		return err
	})
	return late
}

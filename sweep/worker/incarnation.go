package worker

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// incarnationTime has a fixed width, so that incarnations sort by time.
const incarnationTime = "2006-01-02T15:04:05.000000000Z"

// incarnation returns a name for one start of a worker that is greater than last, the previous one,
// even if the clock was set back.
func incarnation(now time.Time, last string, random [4]byte) string {
	before, _, _ := strings.Cut(last, "-r")
	if t, err := time.Parse(incarnationTime, before); err == nil && !now.After(t) {
		now = t.Add(time.Nanosecond)
	}
	return now.UTC().Format(incarnationTime) + "-r" + hex.EncodeToString(random[:])
}

// newIncarnation returns the incarnation of a worker that starts now and stores it beside its spool
// for the next start. Without a spool the clock alone distinguishes starts.
func newIncarnation(spool string) (string, error) {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	if spool == "" {
		return incarnation(time.Now(), "", random), nil
	}
	file := spool + ".incarnation"
	last, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	name := incarnation(time.Now(), strings.TrimSpace(string(last)), random)
	return name, errors.Join(err, replace(file, name+"\n"))
}

// replace replaces a file atomically.
func replace(file, text string) error {
	part := file + ".new"
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(part, file)
}

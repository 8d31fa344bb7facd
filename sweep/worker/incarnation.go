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

// incarnationTime has one width for all times, so that texts compare as times do.
const incarnationTime = "2006-01-02T15:04:05.000000000Z"

// incarnation names one start of a worker: greater than last, the one before, also where a clock was set back.
func incarnation(now time.Time, last string, random [4]byte) string {
	before, _, _ := strings.Cut(last, "-r")
	if t, err := time.Parse(incarnationTime, before); err == nil && !now.After(t) {
		now = t.Add(time.Nanosecond)
	}
	return now.UTC().Format(incarnationTime) + "-r" + hex.EncodeToString(random[:])
}

// born makes the incarnation of a worker that starts now, and notes it beside its spool for the next. Without a spool
// the clock alone has to tell starts apart.
func born(spool string) (string, error) {
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

// replace writes a file anew; who reads it meets the old text or the new one.
func replace(file, text string) error {
	part := file + ".new"
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(part, file)
}

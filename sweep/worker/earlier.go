package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
)

// earlierLogs lists the suffixes of the output files that earlier attempts left in a task's folder,
// the oldest first. Files of attempts that were killed before their number was known stand before
// the first with a number that is newer.
func earlierLogs(folder int) (suffixes []string, err error) {
	names, err := namesIn(folder)
	if err != nil {
		return nil, err
	}
	var all, killed []keptLog
	for _, name := range names {
		var s unix.Stat_t
		switch l, ok := parseLog(name); {
		case !ok || unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) != nil:
		case l.killed:
			killed = append(killed, keptLog{l.number, true, s.Mtim.Nano()})
		default:
			all = append(all, keptLog{l.number, false, s.Mtim.Nano()})
		}
	}
	slices.SortFunc(all, func(a, b keptLog) int { return a.number - b.number })
	slices.SortFunc(killed, func(a, b keptLog) int { return a.number - b.number })
	for _, k := range killed {
		at := slices.IndexFunc(all, func(l keptLog) bool { return !l.killed && l.changed > k.changed })
		if at < 0 {
			at = len(all)
		}
		all = slices.Insert(all, at, k)
	}
	for _, l := range all {
		suffix := logSuffix(l.number)
		if l.killed {
			suffix = killedSuffix(l.number)
		}
		suffixes = append(suffixes, suffix)
	}
	return suffixes, nil
}

// keptLog is the output file of an earlier attempt.
type keptLog struct {
	number  int
	killed  bool
	changed int64
}

// parseLog reads the name of the file of an earlier attempt's standard output, which every attempt has.
func parseLog(name string) (l keptLog, ok bool) {
	middle, found := strings.CutPrefix(name, "stdout.")
	middle, ends := strings.CutSuffix(middle, ".log")
	digits, killed := strings.CutPrefix(middle, "killed-")
	n, err := strconv.Atoi(digits)
	return keptLog{number: n, killed: killed}, found && ends && err == nil && n > 0
}

// earlierMetrics are the values that earlier attempts printed which ran in a task's folder, by the
// files that keep their output.
func earlierMetrics(ctx context.Context, folder int, rules *metric.Rules) (*metric.Series, error) {
	all := &metric.Series{Rules: rules}
	suffixes, err := earlierLogs(folder)
	for _, suffix := range suffixes {
		err = errors.Join(err, readMetrics(ctx, folder, suffix, rules, all, nil))
	}
	return all, err
}

// readMetrics adds the values in both output files of an attempt to a series: the one after the
// other, as nothing tells in which order their lines came. Ended is called with the name of each
// stream and its scanner; it may be nil.
func readMetrics(ctx context.Context, folder int, suffix string, rules *metric.Rules,
	to *metric.Series, ended func(string, *metric.Scanner)) error {
	for _, stream := range []string{"stdout", "stderr"} {
		l, err := openNamed(folder, stream+suffix, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		scanner := rules.NewScanner(time.Now,
			func(s metric.Sample) { s.Stream = stream; to.Add(s) })
		_, err = io.CopyBuffer(scanner, &untilLate{from: &stoppable{ctx, l}}, make([]byte, 256<<10))
		if err = errors.Join(err, l.Close(), scanner.Close()); err != nil {
			return err
		}
		if ended != nil {
			ended(stream, scanner)
		}
	}
	return nil
}

// stoppable is a file that is read until ctx ends.
type stoppable struct {
	ctx  context.Context
	file io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	return s.file.Read(p)
}

// untilLate reads an output file up to lateMark: what stands below it counts nowhere.
type untilLate struct {
	from io.Reader
	held []byte // read, and not passed on: at its end lateMark may begin
	end  error
}

func (u *untilLate) Read(p []byte) (int, error) {
	for {
		if at := bytes.Index(u.held, []byte(lateMark)); at >= 0 {
			u.held, u.end = u.held[:at], io.EOF
		}
		ready := len(u.held)
		if u.end == nil {
			ready = max(0, ready-len(lateMark)+1)
		}
		if n := copy(p, u.held[:ready]); n > 0 {
			u.held = append(u.held[:0], u.held[n:]...)
			return n, nil
		}
		if u.end != nil {
			return 0, u.end
		}
		at := len(u.held)
		u.held = slices.Grow(u.held, len(p)+len(lateMark))
		n, err := u.from.Read(u.held[at : at+len(p)])
		u.held, u.end = u.held[:at+n], err
	}
}

// namesIn lists an open folder.
func namesIn(folder int) ([]string, error) {
	fd, err := openAt(folder, ".", unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	d := os.NewFile(uintptr(fd), ".")
	defer d.Close()
	return d.Readdirnames(-1)
}

package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
)

// earlierLogs returns the output files that earlier attempts left in a task's folder, oldest first.
// Files of attempts that were killed before their number was known precede the first numbered ones
// that are newer, and get the same number.
func earlierLogs(folder int) (all []earlierLog, err error) {
	names, err := namesIn(folder)
	if err != nil {
		return nil, err
	}
	var killed []earlierLog
	for _, name := range names {
		var s unix.Stat_t
		switch l, ok := parseLogName(name, "stdout"); {
		case !ok || unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) != nil:
		case l.killed:
			killed = append(killed, earlierLog{number: l.number, killed: true,
				modified: s.Mtim.Nano()})
		default:
			all = append(all, earlierLog{number: l.number, modified: s.Mtim.Nano()})
		}
	}
	slices.SortFunc(all, func(a, b earlierLog) int { return a.number - b.number })
	slices.SortFunc(killed, func(a, b earlierLog) int { return a.number - b.number })
	for _, k := range killed {
		newer := func(l earlierLog) bool { return !l.killed && l.modified > k.modified }
		at := slices.IndexFunc(all, newer)
		if at < 0 {
			at = len(all)
		}
		all = slices.Insert(all, at, k)
	}
	attempt := newestIn(folder)
	for i, l := range slices.Backward(all) {
		if !l.killed {
			attempt = l.number
		}
		all[i].attempt = attempt
	}
	return all, nil
}

// earlierLog is the output file of an earlier attempt.
type earlierLog struct {
	number   int
	killed   bool
	modified int64
	attempt  int // that printed it
}

// suffix returns how the names of its output files end.
func (l earlierLog) suffix() string {
	if l.killed {
		return killedSuffix(l.number)
	}
	return logSuffix(l.number)
}

// parseLogName parses the name of an earlier attempt's output file; every attempt has one of
// stdout.
func parseLogName(name, stream string) (l earlierLog, ok bool) {
	middle := strings.TrimSuffix(strings.TrimPrefix(name, stream+"."), ".log")
	digits, killed := strings.CutPrefix(middle, "killed-")
	n, err := strconv.Atoi(digits)
	l = earlierLog{number: n, killed: killed}
	return l, err == nil && n > 0 && name == stream+l.suffix()
}

// earlierMetrics returns the values that attempt since and later ones printed in a task's folder,
// read from their output files.
func earlierMetrics(ctx context.Context, folder int, rules *metric.Rules,
	since int) (*metric.Series, error) {
	all := &metric.Series{Rules: rules}
	logs, err := earlierLogs(folder)
	for _, l := range logs {
		if all.Attempt = l.attempt; l.attempt < since {
			continue
		}
		if e := readMetrics(ctx, folder, l.suffix(), rules, all, nil); !errors.Is(err, e) {
			err = errors.Join(err, e)
		}
	}
	return all, err
}

// errCut says that metrics were read, but not from all that was printed.
var errCut = errors.New("output was cut, and what was printed after that is not there")

// readMetrics adds the values in both output files of an attempt to a series, stdout first, because
// the order of lines across the files is unknown. ended, which may be nil, is called with the name
// and the scanner of each stream. The error is errCut if printed values may be missing at an end.
func readMetrics(ctx context.Context, folder int, suffix string, rules *metric.Rules,
	to *metric.Series, ended func(string, *metric.Scanner)) error {
	cut := false
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
		var end lastBytes
		_, err = io.CopyBuffer(io.MultiWriter(scanner, &end),
			&untilLateMark{from: &stoppable{ctx, l}},
			make([]byte, 256<<10))
		if err = errors.Join(err, l.Close(), scanner.Close()); err != nil {
			return err
		}
		cut = cut || end.isCut()
		if ended != nil {
			ended(stream, scanner)
		}
	}
	if cut && (rules.OfOutput() || len(to.Final()) > 0) {
		return errCut
	}
	return nil
}

// lastBytes is what was written last, enough for the longest line of cutMarker.
type lastBytes []byte

func (l *lastBytes) Write(p []byte) (int, error) {
	const most = 1 << 10
	all := append(*l, p[max(0, len(p)-most):]...)
	*l = append(all[:0], all[max(0, len(all)-most):]...)
	return len(p), nil
}

// isCut reports whether it ends with the line of cutMarker.
func (l lastBytes) isCut() bool {
	at := bytes.LastIndex(l, []byte(cutMarker))
	return at >= 0 && bytes.HasSuffix(l, []byte("]\n")) &&
		bytes.Count(l[at+len(cutMarker):], []byte{'\n'}) == 1
}

// stoppable is a reader that fails once ctx has ended.
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

// untilLateMark reads an output file up to lateMarker: what follows the marker does not count.
type untilLateMark struct {
	from io.Reader
	// read but not passed on: its end may be the beginning of lateMarker
	buffered []byte
	end      error
}

func (u *untilLateMark) Read(p []byte) (int, error) {
	for {
		if at := bytes.Index(u.buffered, []byte(lateMarker)); at >= 0 {
			u.buffered, u.end = u.buffered[:at], io.EOF
		}
		ready := len(u.buffered)
		if u.end == nil {
			ready = max(0, ready-len(lateMarker)+1)
		}
		if n := copy(p, u.buffered[:ready]); n > 0 {
			u.buffered = append(u.buffered[:0], u.buffered[n:]...)
			return n, nil
		}
		if u.end != nil {
			return 0, u.end
		}
		at := len(u.buffered)
		u.buffered = slices.Grow(u.buffered, len(p)+len(lateMarker))
		n, err := u.from.Read(u.buffered[at : at+len(p)])
		u.buffered, u.end = u.buffered[:at+n], err
	}
}

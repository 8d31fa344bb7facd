package infra

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mlframework/infra/layout"
)

// Entry makes the line of the audit that says how a change of the cluster ended. The uid is that of the ssh user on the
// master's host.
type Entry func(uid int, err error) []byte

// longestJournal is how large the file of this program grows, in bytes, before it becomes the older one.
const longestJournal = 512 << 10

// enterJournal appends a line to the audit. Where the cluster's folder is not there, as it was taken back, it does nothing. Its
// arguments are the folder, the file in it, and how large that may be.
const enterJournal = `umask 077
[ -e "$1/` + layout.MarkerFile + `" ] || exit 0
file=$1/$2
[ ! -f "$file" ] || [ "$(wc -c <"$file")" -lt "$3" ] || mv -f "$file" "$file.1" || exit 1
cat >>"$file"`

// readJournal prints the last lines of the files of the audit, each behind the name of its file, and of each file no more than it
// may hold: links are not followed. Its arguments are the folder, how many lines, how many bytes, and the files.
const readJournal = `cd "$1" || exit 1
lines=$2 bytes=$3
shift 3
for file; do
	for part in "$file.1" "$file"; do
		[ ! -f "$part" ] || [ -L "$part" ] || tail -n "$lines" "$part" | tail -c "$bytes" | sed "s|^|$file |" || exit 1
	done
done`

// enter writes how a change ended into the audit on the master's host, also when ctx has ended.
func (m *machine) enter(ctx context.Context, entry Entry, ended error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	line := append(bytes.TrimSpace(entry(m.found.UID, ended)), '\n')
	args := []string{m.found.Root, layout.Audit, strconv.Itoa(longestJournal)}
	if err := m.script(ctx, enterJournal, args, bytes.NewReader(line), io.Discard); err != nil {
		return fmt.Errorf("write the audit on %s: %w", m.name, err)
	}
	return nil
}

// audit writes how this call ended into the audit. That it cannot is told, and no failure.
func (u *up) audit(ctx context.Context, ended error) {
	m, there := u.machines[u.request.Master]
	if u.request.Entry == nil || !there {
		return
	}
	if err := m.enter(ctx, u.request.Entry, ended); err != nil {
		u.o.Report.Warn(m.name, err.Error())
	}
}

// Enter writes how a change ended into the audit.
func (c *Cluster) Enter(ctx context.Context, entry Entry, ended error) error {
	m, there := c.machines[c.place.Master]
	if !there {
		return c.away()
	}
	return m.enter(ctx, entry, ended)
}

// JournalLine is a line of the audit. The monitor's word is not worth more than what it may know: of logins and links.
type JournalLine struct {
	Monitor bool // it is the monitor's
	Text    string
}

// Journal returns the last lines of each file of the audit that is on the master's host beside what the master has, in no
// order among files.
func (c *Cluster) Journal(ctx context.Context, most int) ([]JournalLine, error) {
	m, there := c.machines[c.place.Master]
	if !there {
		return nil, c.away()
	}
	ctx, cancel := context.WithTimeout(ctx, journalTime)
	defer cancel()
	var out bytes.Buffer
	args := append([]string{m.found.Root, strconv.Itoa(most), strconv.Itoa(2 * longestJournal)}, layout.Audits()...)
	if err := m.script(ctx, readJournal, args, nil, &out); err != nil {
		return nil, fmt.Errorf("read the audit on %s: %w", m.name, err)
	}
	return journalLines(out.String()), nil
}

// journalLines reads what readJournal printed.
func journalLines(text string) (all []JournalLine) {
	for line := range strings.Lines(text) {
		if file, text, is := strings.Cut(strings.TrimSpace(line), " "); is {
			all = append(all, JournalLine{file != layout.Audit, text})
		}
	}
	return all
}

// journalTime is how long a host may take to send its audit.
const journalTime = 15 * time.Second

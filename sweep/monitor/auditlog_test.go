package monitor_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/monitor"
)

// audited returns what a file of the monitor's audit has, in words.
func (s *site) audited(name string) (all []string) {
	s.t.Helper()
	f, err := os.Open(filepath.Join(s.state(), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.must(err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var a core.AuditEntry
		s.must(json.Unmarshal(lines.Bytes(), &a))
		who := a.User
		if a.UID != nil {
			who = strconv.Itoa(*a.UID)
		}
		all = append(all, strings.Join([]string{who, a.Kind, a.Action, a.Detail, a.Outcome}, " "))
	}
	return all
}

// Who makes a link, who logs in and who tries in vain is in the audit; of the latter only so much
// that no stranger fills the disk, or pushes out who came in.
func TestLoginsAreAudited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	begin := time.Now().UTC().Truncate(time.Second)
	s.mu.Lock()
	s.now = func() time.Time { return begin }
	s.mu.Unlock()
	link, err := monitor.Link(s.state(), s.url+"/", monitor.Operator, begin)
	s.must(err)
	u, err := url.Parse(link)
	s.must(err)
	s.visitor().post("/login", url.Values{"code": {u.Query().Get("code")}})
	s.visitor().tries(s.token())
	stranger := s.visitor()
	for range 100 {
		stranger.tries("guess")
	}
	stranger.post("/login", url.Values{"code": {"guess"}})
	s.mu.Lock()
	s.now = func() time.Time { return begin.Add(time.Hour) }
	s.mu.Unlock()
	stranger.tries("guess")
	want := []string{
		strconv.Itoa(os.Getuid()) + " monitor link role=operator done",
		"monitor monitor login role=operator way=code from=127.0.0.1 done",
		"monitor monitor login role=operator way=token from=127.0.0.1 done",
	}
	if got := s.audited("audit.jsonl"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the audit has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	want = nil
	for _, tries := range []string{"1", "2", "4", "8", "16", "32", "64"} {
		want = append(want,
			"monitor monitor login way=token from=127.0.0.1 tries="+tries+" since="+begin.Format(
				time.RFC3339)+" refused")
	}
	want = append(want,
		"monitor monitor login way=code from=127.0.0.1 tries=1 since="+begin.Format(
			time.RFC3339)+" refused",
		"monitor monitor login way=token from=127.0.0.1 tries=1 since="+begin.Add(time.Hour).Format(
			time.RFC3339)+" refused")
	if got := s.audited("audit-refused.jsonl"); strings.Join(got, "\n") != strings.Join(want,
		"\n") {
		t.Errorf("of those refused the audit has\n%s\nwant\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	for _, name := range []string{"audit.jsonl", "audit-refused.jsonl"} {
		path := filepath.Join(s.state(), name)
		text, err := os.ReadFile(path)
		s.must(err)
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 ||
			strings.Contains(string(text), s.token()) ||
			strings.Contains(string(text), "guess") {
			t.Errorf("%s: %v, %v\n%s", name, info.Mode(), err, text)
		}
	}
}

// A file of the audit that is full becomes the older one, and that is replaced in its turn.
func TestTheAuditOfLoginsIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := filepath.Join(s.state(), "audit.jsonl")
	full := strings.Repeat(strings.Repeat(" ", 1023)+"\n", 512)
	for range 2 {
		s.must(os.WriteFile(path, []byte(full), 0o600))
		s.visitor().tries(s.token())
		old, err := os.ReadFile(path + ".1")
		s.must(err)
		if got := s.audited("audit.jsonl"); len(got) != 1 || string(old) != full {
			t.Errorf("the audit has %q, and %d bytes are in the older one", got, len(old))
		}
	}
}

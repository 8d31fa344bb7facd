package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func TestPage(t *testing.T) {
	t.Parallel()
	lines := []string{"a", "b", "c", "d"}
	for name, c := range map[string]struct {
		height int
		want   string
	}{
		"all": {4, "\x1b[Ha\x1b[K\r\nb\x1b[K\r\nc\x1b[K\r\nd\x1b[K\x1b[J"},
		"too many": {3, "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n" +
			"... 2 lines more: make the window higher\x1b[K\x1b[J"},
	} {
		if got := page(lines, c.height); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if strings.Join(lines, "") != "abcd" {
		t.Error("the lines were changed")
	}
}

func TestContainer(t *testing.T) {
	t.Parallel()
	r := layout.Record{Master: "gpu1", Hosts: []layout.RecordHost{
		{Name: "gpu1", Address: "anna@gpu1"},
		{Name: "gpu2", Address: "anna@gpu2:2222", Worker: true}}}
	for named, want := range map[string][2]string{
		"master":         {"gpu1", plan.Master},
		"broker":         {"gpu1", plan.Broker},
		"monitor":        {"gpu1", plan.Monitor},
		"gpu2":           {"gpu2", plan.Worker},
		"anna@gpu2:2222": {"gpu2", plan.Worker},
	} {
		host, role, err := container(r, named)
		if err != nil || host != want[0] || role != want[1] {
			t.Errorf("%s: %s, %s, %v", named, host, role, err)
		}
	}
	for _, named := range []string{"gpu1", "gpu9", "worker"} {
		_, _, err := container(r, named)
		e, ok := errors.AsType[*cli.Error](err)
		if !ok || e.Code != cli.Usage ||
			!strings.Contains(e.Remedy, "gpu2, master, broker, monitor") {
			t.Errorf("%s: %v", named, err)
		}
	}
}

// The user ID, which the kernel reports, comes before the name, which a caller chooses.
func TestTheAuditBeginsWithWhatTheKernelSays(t *testing.T) {
	t.Parallel()
	uid := 1001
	for want, a := range map[string]core.AuditEntry{
		"  uid 1001 (says anna)  cancel train-3": {UID: &uid, User: "anna"},
		"  uid 1001  cancel train-3":             {UID: &uid},
		"  uid ? (says root)  cancel train-3":    {User: "root"},
	} {
		a.Action, a.Object, a.Outcome = "cancel", "train-3", core.AuditDone
		if got := actionText(a); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhatIsShownOfALog(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	s := &shown{to: &b}
	for _, piece := range []string{"caf\xc3", "\xa9\x1b[31m\n", "a", "b\nend"} {
		if _, err := s.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := b.String(), "café\\x1b[31m\nab\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := s.flush(); err != nil || !strings.HasSuffix(b.String(), "\nend\n") {
		t.Errorf("%q, %v", b.String(), err)
	}
	b.Reset()
	if _, err := s.Write([]byte(strings.Repeat("x", longestPart+1))); err != nil || b.Len() == 0 {
		t.Errorf("%d bytes shown, %v", b.Len(), err)
	}
}

// Without TLS, the page has a host name that the browser uses for nothing else.
func TestWhereABrowserFindsTheMonitor(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.1:5556"
	page, fallback := pages("anna-digits", address, false)
	if page != "http://anna-digits.localhost:5556/" || fallback != "http://127.0.0.1:5556/" {
		t.Errorf("%s, %s", page, fallback)
	}
	page, fallback = pages("x", address, true)
	if page != "https://"+address+"/" || fallback != "" {
		t.Errorf("with TLS: %s, %s", page, fallback)
	}
}

// What a container prints is shown as a link only if it leads to the monitor.
func TestALinkLeadsToTheMonitor(t *testing.T) {
	t.Parallel()
	const page, code = "http://127.0.0.1:5555/", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for said, want := range map[string]bool{
		page + "login?code=" + code:                      true,
		page + "login?code=" + code + "\x1b[2J":          false,
		page + "login?code=" + code + "\nhttp://evil":    false,
		page + "login?code=":                             false,
		"http://127.0.0.1.evil:5555/login?code=" + code:  false,
		"warning: x\n" + page + "login?code=" + code:     false,
		page + "login?code=" + code + "&next=//evil":     false,
		"https://127.0.0.1:5555/login?code=" + code:      false,
		page + "login?code=" + strings.Repeat("A", 1000): false,
	} {
		if link, ok := checkedLink(said, page); ok != want || ok && link != said {
			t.Errorf("%q: %q, %v", said, link, ok)
		}
	}
}

// Those who call the master choose the words of the audit.
func TestHostileTextOfTheAudit(t *testing.T) {
	t.Parallel()
	const poison = "\x1b[2J\r\n\u009b\u202e"
	why := "no" + poison
	a := core.AuditEntry{User: "anna" + poison, Action: "cancel" + poison,
		Object: "train-3" + poison, Detail: "x" + poison, Outcome: "refused" + poison, Reason: &why}
	text := auditLine(a)
	if strings.Count(text, `\x1b[2J\r\n`) != 6 ||
		strings.ContainsAny(text, poison[:1]+"\r\n\u009b\u202e") {
		t.Errorf("%q", text)
	}
}

// echo reads each connection to its end, and sends back what it read.
func echo(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				said, _ := io.ReadAll(conn)
				_, _ = conn.Write(said)
			}()
		}
	}()
	return l
}

func TestForwarder(t *testing.T) {
	t.Parallel()
	far := echo(t)
	near, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	faults := make(chan error, 8)
	var gone atomic.Bool
	ended := make(chan error, 1)
	reached := func() bool { // whether the port accepts connections
		conn, err := net.DialTimeout("tcp", near.Addr().String(), 30*time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	f := &forwarder{fault: func(err error) { faults <- err },
		dial: func(ctx context.Context) (net.Conn, error) {
			if gone.Load() { // another program may have its port
				return nil, errors.New("gone")
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", far.Addr().String())
		}}
	ctx, stop := context.WithCancelCause(t.Context())
	go func() { ended <- f.run(ctx, []net.Listener{near}, nil) }()
	call := func() *net.TCPConn {
		t.Helper()
		conn, err := net.DialTimeout("tcp", near.Addr().String(), 30*time.Second)
		if err == nil {
			err = conn.SetDeadline(time.Now().Add(30 * time.Second))
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn.(*net.TCPConn)
	}
	first := call()
	if _, err := first.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := first.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(first); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	open := call() // stays open
	gone.Store(true)
	refused := call()
	if _, err := io.ReadAll(refused); err != nil && !errors.Is(err, io.EOF) {
		t.Logf("the refused connection: %v", err)
	}
	select {
	case <-faults:
	case <-time.After(30 * time.Second):
		t.Error("the error of dial is not reported")
	}
	why := errors.New("enough")
	stop(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if reached() {
		t.Error("the port is taken after the end")
	}
	if n, err := open.Read(make([]byte, 1)); err == nil {
		t.Errorf("a connection outlived the forwarder: %d bytes", n)
	}
}

func TestForwarderEndsWithTheConnectionToTheHost(t *testing.T) {
	t.Parallel()
	near, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	close(gone)
	err = new(forwarder).run(t.Context(), []net.Listener{near}, gone)
	if e, ok := errors.AsType[*cli.Error](err); !ok || e.Code != cli.Unreachable {
		t.Errorf("%v", err)
	}
}

// The entries of master and commands are merged in the order of their times.
func TestTheAuditIsInOrder(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 11, 21, 17, 50, second, 0, time.UTC) }
	master := []core.AuditEntry{{ID: 9, Time: at(30), Action: "cancel"},
		{ID: 8, Time: at(10), Action: "submit"}}
	lines := []string{
		`o":"cut off"}`, "",
		`{"id":7,"time":"2026-11-21T17:50:20Z","uid":1001,"user":"anna@laptop",` +
			`"action":"update-files","kind":"cluster","outcome":"done"}`,
		`{"time":"2026-11-21T17:50:05Z","uid":1001,"user":"anna@laptop",` +
			`"action":"infrainit","kind":"cluster","outcome":"failed"}`,
		`{"action":"of no time"}`,
	}
	for most, want := range map[int]string{
		10: "cluster infrainit 0,  submit 8, cluster update-files 0,  cancel 9",
		2:  "cluster update-files 0,  cancel 9",
	} {
		var got []string
		for _, a := range merged(master, lines, most) {
			got = append(got, fmt.Sprintf("%s %s %d", a.Kind, a.Action, a.ID))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("the last %d are %q, want %q", most, got, want)
		}
	}
}

// More entries than a page of the API holds are read page by page, and no more than are asked for.
func TestAuditOfManyPages(t *testing.T) {
	t.Parallel()
	const kept, page = 2500, 1000
	read := func(_ context.Context, q api.AuditQuery) (p api.AuditPage, err error) {
		last := kept + 1
		if q.After != "" {
			if last, err = strconv.Atoi(q.After); err != nil {
				return p, err
			}
		}
		for id := last - 1; id > 0 && len(p.Actions) < min(q.Limit, page); id-- {
			p.Actions = append(p.Actions, core.AuditEntry{ID: int64(id)})
			p.Next = strconv.Itoa(id)
		}
		if p.Next == "1" {
			p.Next = ""
		}
		return p, nil
	}
	for most, want := range map[int]int{1: 1, 1000: 1000, 1001: 1001, 2500: 2500, 1_000_000: kept} {
		all, err := newest(t.Context(), most, read)
		if err != nil || len(all) != want {
			t.Errorf("asked for %d, read %d, %v; want %d", most, len(all), err, want)
			continue
		}
		if first, last := all[0].ID, all[want-1].ID; first != kept || last != int64(kept-want+1) {
			t.Errorf("the newest %d are %d to %d", most, first, last)
		}
	}
	_, err := newest(t.Context(), 10, func(context.Context, api.AuditQuery) (api.AuditPage, error) {
		return api.AuditPage{}, io.ErrUnexpectedEOF
	})
	if err != io.ErrUnexpectedEOF {
		t.Errorf("the error is %v", err)
	}
}

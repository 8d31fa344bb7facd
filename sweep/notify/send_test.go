package notify_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/internal/leaktest"
	"mlframework/sweep/notify"
	"mlframework/sweep/task"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// quick tries again at once.
var quick = notify.Sender{Timeout: 10 * time.Second, Pause: time.Nanosecond}

var message = notify.Message{Sweep: "train-1", Event: "ended", Failures: []notify.Failure{}}

const secret = "/services/T0/B0/secret"

func TestPost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []int // of each try
		tries    int
		wrong    string
	}{
		"taken":       {[]int{200}, 1, ""},
		"accepted":    {[]int{204}, 1, ""},
		"second try":  {[]int{503, 200}, 2, ""},
		"both failed": {[]int{503, 403, 200}, 2, " answered 403 Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Method != http.MethodPost || r.URL.Path != secret ||
					r.Header.Get("Content-Type") != "application/json" ||
					!strings.HasPrefix(string(body), `{"sweep":"train-1",`) {
					t.Errorf("%s %s: %s", r.Method, r.URL, body)
				}
				w.WriteHeader(c.statuses[tries.Add(1)-1])
			}))
			defer s.Close()
			err := quick.Send(t.Context(), task.Notify{URL: s.URL + secret}, "", message)
			check(t, err, c.wrong)
			if n := int(tries.Load()); n != c.tries {
				t.Errorf("%d tries, want %d", n, c.tries)
			}
		})
	}
}

// What went wrong is said without the URL, which may be secret.
func check(t *testing.T, err error, wrong string) {
	t.Helper()
	switch {
	case err == nil && wrong == "":
	case err == nil || wrong == "" || !strings.Contains(err.Error(), wrong):
		t.Errorf("it says %v, want %q", err, wrong)
	case strings.Contains(err.Error(), "secret"):
		t.Errorf("it tells the URL: %v", err)
	}
}

func TestPostFails(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	gone := s.URL
	s.Close()
	check(t, quick.Send(t.Context(), task.Notify{URL: gone + secret}, "", message),
		"connection refused")

	stop := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer hangs.Close()
	defer close(stop)
	hasty := notify.Sender{Timeout: 20 * time.Millisecond, Pause: time.Nanosecond}
	check(t, hasty.Send(t.Context(), task.Notify{URL: hangs.URL + secret}, "", message),
		"it took longer than 20ms")

	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	check(t, quick.Send(t.Context(), task.Notify{URL: untrusted.URL + secret}, "", message),
		"certificate")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check(t, quick.Send(ended, task.Notify{URL: hangs.URL + secret}, "", message), "canceled")
}

func TestCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	sh := func(script string) task.Notify {
		return task.Notify{Command: []string{"sh", "-c", script}}
	}
	send := func(s notify.Sender, script string) error {
		return s.Send(t.Context(), sh(script), folder, message)
	}
	check(t, send(quick, "cat > told; echo printed"), "")
	told, err := os.ReadFile(filepath.Join(folder, "told"))
	if err != nil || !strings.HasPrefix(string(told), `{"sweep":"train-1",`) ||
		!strings.HasSuffix(string(told), "}\n") {
		t.Errorf("it was told %q: %v", told, err)
	}
	check(t, send(quick, "exit 0"), "")
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shell, filepath.Join(folder, "tell")); err != nil {
		t.Fatal(err)
	}
	check(t, quick.Send(t.Context(), task.Notify{Command: []string{"./tell", "-c", "cat"}}, folder,
		message), "")
	check(t, send(quick, "echo no such channel >&2; exit 3"), "exit status 3: no such channel")
	check(t, send(quick, "test -e again || { touch again; exit 1; }"), "")
	check(t, quick.Send(t.Context(), task.Notify{Command: []string{"no-such-program"}}, folder,
		message), "not found")
	hasty := notify.Sender{Timeout: 50 * time.Millisecond, Pause: time.Nanosecond}
	check(t, send(hasty, "sleep 600 & wait"), "it took longer than 50ms")
}

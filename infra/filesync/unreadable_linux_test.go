package filesync_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mlframework/infra/filesync"
	"mlframework/infra/filesync/server"
)

// restricted is an agent that sends contents with the rights of a user who is not root.
type restricted struct{ mux *http.ServeMux }

func (a restricted) Do(
	ctx context.Context, method, path string, body io.Reader,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if os.Getuid() == 0 && path == "/outputs/files" {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		const nobody = 65534
		if err := unix.Setfsuid(nobody); err != nil {
			return nil, err
		}
		defer unix.Setfsuid(0)
	}
	w := httptest.NewRecorder()
	a.mux.ServeHTTP(w, r)
	return w.Result(), nil
}

// A file that the agent may not read is left out and told as that, and everything else comes.
func TestAFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	outputs, dir := t.TempDir(), t.TempDir()
	tree(t, filepath.Join(outputs, "run-1"), map[string]string{"0/a": "a", "0/shut": "s",
		"0/z": "z"})
	must(t, os.Chmod(filepath.Join(outputs, "run-1", "0", "shut"), 0))
	must(t, os.Chmod(filepath.Dir(outputs), 0o755))
	a := restricted{http.NewServeMux()}
	server.Handle(a.mux, server.Options{Fail: func(_ http.ResponseWriter, err error) {
		t.Error(err)
	}})
	done, err := filesync.NewClient(a, "", anna).Fetch(t.Context(), filesync.FetchOptions{
		Sweep: "run-1", Dir: dir, Own: &filesync.Folders{Outputs: outputs}})
	must(t, err)
	want := filesync.Skipped{Path: "run-1/0/shut",
		Why: "it cannot be read: permission denied: see that your user may read it on the host"}
	if done.Files != 2 || len(done.Skipped) != 1 || done.Skipped[0] != want {
		t.Errorf("%+v", done)
	}
	if got := strings.Join(names(t, filepath.Join(dir, "run-1", "0")), " "); got != "a z" {
		t.Errorf("it has %s", got)
	}
}

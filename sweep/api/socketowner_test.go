package api_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"mlframework/sweep/api"
)

// A socket is sent something if it is this user's or root's; by root also if its owner serves it.
func TestWhoseSocketsAreTrusted(t *testing.T) {
	t.Parallel()
	const me, other, root = 1000, 1234, 0
	const foreign = "it belongs to the user with the number 1234"
	served := func(by int) string {
		return fmt.Sprintf("it is served by the user with the number %d, and not by its owner", by)
	}
	for name, c := range map[string]struct {
		file, listens, by int
		want              string
	}{
		"mine":                         {me, me, me, ""},
		"mine, served by root":         {me, root, me, ""},
		"root's":                       {root, root, me, ""},
		"another's":                    {other, other, me, foreign},
		"another's, and I serve it":    {other, me, me, foreign},
		"mine, served by another":      {me, other, me, served(other)},
		"root, of another":             {other, other, root, ""},
		"root, served by a third":      {other, 4321, root, foreign},
		"root, and it took it over":    {other, root, root, foreign},
		"root, own, served by another": {root, other, root, served(other)},
	} {
		if got := api.Distrust(c.file, c.listens, c.by); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Nothing is sent to a socket that belongs to another user.
func TestASocketOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "m.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 1)
	served := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
	})}
	go func() { _ = served.Serve(listener) }()
	defer served.Close()
	if err := errors.Join(os.Chown(path, 1234, -1), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	client := api.Dial(path)
	defer client.Close()
	_, err = client.Health(t.Context())
	if e, is := errors.AsType[*api.Unreachable](err); !is || e.Remedy == "" || len(asked) > 0 {
		t.Errorf("%v, %d requests", err, len(asked))
	}
}

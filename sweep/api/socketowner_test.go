package api_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"mlframework/sweep/api"
)

// A socket is sent something if it is this user's or root's, or shared with a group of this user;
// by root also if its owner serves it.
func TestWhoseSocketsAreTrusted(t *testing.T) {
	t.Parallel()
	const me, other, root = 1000, 1234, 0
	const foreign = "it belongs to the user with the number 1234, and to no group of yours"
	served := func(by int) string {
		return fmt.Sprintf("it is served by the user with the number %d, and not by its owner", by)
	}
	for name, c := range map[string]struct {
		file, group int
		mode        fs.FileMode
		listens, by int
		want        string
	}{
		"mine":                            {me, me, 0o600, me, me, ""},
		"mine, served by root":            {me, me, 0o600, root, me, ""},
		"root's":                          {root, root, 0o666, root, me, ""},
		"shared with a group of mine":     {other, 50, 0o660, other, me, ""},
		"shared, served by root":          {other, 50, 0o660, root, me, ""},
		"for everybody":                   {other, other, 0o666, other, me, foreign},
		"of a group of mine, not shared":  {other, 50, 0o606, other, me, foreign},
		"shared, served by a third user":  {other, 50, 0o660, 4321, me, served(4321)},
		"mine, served by another":         {me, me, 0o600, other, me, served(other)},
		"shared, and I took it over":      {other, 50, 0o660, me, me, ""},
		"another's, and I am in no group": {other, 51, 0o660, other, me, foreign},
		"root, of another":                {other, other, 0o600, other, root, ""},
		"root, served by a third":         {other, other, 0o600, 4321, root, foreign},
		"root, and it took it over":       {other, other, 0o600, root, root, foreign},
		"root, own, served by another":    {root, root, 0o600, other, root, served(other)},
	} {
		if got := api.Distrust(c.file, c.group, c.mode, c.listens, c.by); got != c.want {
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
	for _, c := range []struct {
		group   int
		trusted bool
	}{{1234, false}, {os.Getegid(), true}} {
		if err := errors.Join(os.Chown(path, 1234, c.group), os.Chmod(path, 0o660)); err != nil {
			t.Fatal(err)
		}
		client := api.Dial(path)
		_, err := client.Health(t.Context())
		client.Close()
		e, refused := errors.AsType[*api.Unreachable](err)
		if refused == c.trusted || refused && e.Remedy == "" || len(asked) > 0 != c.trusted {
			t.Errorf("group %d: %v, %d requests", c.group, err, len(asked))
		}
	}
}

package mlframework_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// unlinked are packages that programs which only ask a master must not bring with them.
var unlinked = []struct{ path, reason string }{
	{"modernc.org/sqlite", "only the master's side reads a store"},
	{"database/sql", "only the master's side reads a store"},
	{"github.com/rabbitmq/amqp091-go", "only masters and workers speak to the broker"},
	{module + "/sweep/store", "only the master's side reads a store"},
	{module + "/sweep/listing", "only the master's side reads a store"},
	{module + "/sweep/master", "a client knows the words of the API"},
	{module + "/sweep/api/server", "a client knows the words of the API"},
}

// What only asks a master: the client itself, and those that are made of it.
var clients = []string{"sweep/api", "sweep/monitor", "cmd/internal/site", "cmd/check-status"}

func TestClientsLinkNoMaster(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+c).Output()
		if err != nil {
			t.Fatalf("go list -deps ./%s: %v", c, err)
		}
		deps := strings.Fields(string(out))
		for _, u := range unlinked {
			if slices.Contains(deps, u.path) {
				t.Errorf("%s links %s: %s", c, u.path, u.reason)
			}
		}
	}
}

func TestStorageAndHTTPAreApart(t *testing.T) {
	t.Parallel()
	for _, p := range readPackages(t) {
		if p.imports["database/sql"] && p.imports["net/http"] {
			t.Errorf("%s imports database/sql and net/http: storing and serving are two things",
				p.path)
		}
	}
}

package broker_test

import (
	"crypto/rand"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/broker"
)

var update = flag.Bool("update", false, "write the golden files")

// Definitions of a cluster, with nothing random in it.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	s := broker.Secrets{Salt: []byte("salt"), Passwords: map[string]string{
		broker.Master: "m", broker.WorkerUser("gpu1"): "1",
		broker.WorkerUser("gpu2.lab"): "2",
	}}
	got := file(t, s.Files(), broker.DefinitionsFile)
	const golden = "testdata/definitions.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got)\n%s", golden, d)
	}
}

func TestUsersComeAndGo(t *testing.T) {
	t.Parallel()
	before := secrets(t)
	one, two, three := broker.WorkerUser("gpu1"), broker.WorkerUser("gpu2"),
		broker.WorkerUser("gpu3")
	after, err := before.WithUsers(rand.Reader, []string{broker.Master, one, three})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{broker.Master, one, three}, after.Users()); d != "" {
		t.Error(d)
	}
	if after.Passwords[one] != before.Passwords[one] ||
		after.Passwords[three] == before.Passwords[two] {
		t.Error("who stays has another password, or who comes that of another")
	}
	if _, there := before.Passwords[three]; there || before.Passwords[two] == "" {
		t.Error("the secrets that it began with have changed")
	}
	if _, err := after.Client(two); err == nil {
		t.Error("there are credentials of a user who has gone")
	}
	back, err := after.WithUsers(rand.Reader, before.Users())
	if err != nil || back.Passwords[two] == before.Passwords[two] {
		t.Errorf("who comes back has the password of before: %v", err)
	}
}

// What is kept is read, and nothing else.
func TestSecretsAreKept(t *testing.T) {
	t.Parallel()
	now := secrets(t)
	kept, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	read, err := broker.ParseSecrets(kept)
	if d := cmp.Diff(now, read); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, bad := range []string{"", "{}", `{"salt":"AAAA"}`,
		`{"salt":"c2FsdA==","passwords":{}}`} {
		if _, err := broker.ParseSecrets([]byte(bad)); err == nil {
			t.Errorf("%q is taken for secrets", bad)
		}
	}
}

// Nothing but the port with TLS is for others, and nothing but a password lets anybody in.
func TestTheBrokerKeepsToItself(t *testing.T) {
	t.Parallel()
	config := strings.Split(string(file(t, secrets(t).Files(), "rabbitmq.conf")), "\n")
	for _, line := range []string{"listeners.tcp = none", "auth_mechanisms.1 = PLAIN",
		"max_message_size = 2097152"} {
		if !slices.Contains(config, line) {
			t.Errorf("its configuration lacks %q", line)
		}
	}
	environment := strings.Join(broker.Environment(), "\n")
	for _, part := range []string{"ERL_EPMD_ADDRESS=127.0.0.1\n",
		"inet_dist_use_interface {127,0,0,1}"} {
		if !strings.Contains(environment+"\n", part) {
			t.Errorf("its environment lacks %q", part)
		}
	}
	s := secrets(t)
	if cookie := string(file(t, s.Files(), ".erlang.cookie")); cookie != s.Cookie ||
		len(cookie) < 32 || strings.Contains(environment, cookie) {
		t.Errorf("its cookie is %q", cookie)
	}
}

package rights_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/queue/rights"
)

// names are those of queues and exchanges that a worker might like to reach, and what the user of
// worker a.b may do.
var names = map[string]string{
	"tasks.a.b": "read", "control.a.b": "read", rights.FromWorkers: "write",
	"tasks.a": "", "tasks.a.b.c": "", "tasks.axb": "", "tasks.a.b\n": "", "tasks.": "",
	"control.a": "", "control.a.b.c": "",
	"events": "", "heartbeats": "", rights.MasterLock: "", rights.MasterHolder: "",
	"amq.default": "", "amq.topic": "", "amq.gen-1": "",
	"from-workers2": "", "lines.x": "", "pieces.x": "", "control": "", "": "",
}

func TestAWorkerReachesItsOwnOnly(t *testing.T) {
	t.Parallel()
	u := rights.UserOfWorker("a.b")
	for name, want := range names {
		for right, pattern := range map[string]string{"configure": u.Configure, "write": u.Write,
			"read": u.Read} {
			if got := name != "" && regexp.MustCompile(pattern).MatchString(
				name); got != (want == right) {
				t.Errorf("%s %q: %v", right, name, got)
			}
		}
	}
	if len(u.Topics) != 1 || u.Topics[0].Exchange != rights.FromWorkers {
		t.Fatalf("its topics are %+v", u.Topics)
	}
	for key, want := range map[string]bool{
		"events.a.b": true, "heartbeats.a.b": true, "lines.a.b": true, "pieces.a.b": true,
		"probe.a.b": true, "dead.a.b": false,
		"events.a": false, "events.a.b.c": false, "events.axb": false, "events.a.b\n": false,
		"events.": false, "#": false, "events.#": false, "other.a.b": false, "xevents.a.b": false,
	} {
		if got := regexp.MustCompile(u.Topics[0].Write).MatchString(key); got != want {
			t.Errorf("write %q: %v", key, got)
		}
		if regexp.MustCompile(u.Topics[0].Read).MatchString(key) {
			t.Errorf("it may bind %q", key)
		}
	}
	if u.Connections == 0 || u.Channels == 0 {
		t.Error("it has no limits")
	}
}

func TestNamesLeadThereAndBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "a.b", "gpu-1.lab_2@x", strings.Repeat("a", 127)} {
		if err := rights.CheckWorker(name); err != nil {
			t.Error(err)
		}
		if got, ok := rights.WorkerOfUser(rights.WorkerUser(name)); got != name || !ok {
			t.Errorf("the user of %q belongs to %q", name, got)
		}
		if got, ok := rights.Events.WorkerOfKey(rights.Events.RoutingKey(name)); got != name ||
			!ok {
			t.Errorf("the key of %q is that of %q", name, got)
		}
	}
	if _, ok := rights.WorkerOfUser(rights.Master); ok {
		t.Error("the master is a worker")
	}
	if _, ok := rights.Events.WorkerOfKey(rights.Heartbeats.RoutingKey("a")); ok {
		t.Error("a heartbeat is an event")
	}
	for _, name := range []string{"", "-a", ".a", "a b", "a*", "a#", "a/b", "a\n", "ü",
		"{username}", strings.Repeat("a", 128)} {
		if rights.CheckWorker(name) == nil {
			t.Errorf("%q may name a worker", name)
		}
	}
}

func TestOnePolicyForEachQueue(t *testing.T) {
	t.Parallel()
	for queue, want := range map[string]string{
		rights.TasksQueue("w"): "mlframework", rights.EventsQueue: "mlframework-events",
		rights.HeartbeatsQueue:    "mlframework-heartbeats",
		rights.ControlQueue("w"):  "mlframework-control",
		rights.MasterHolder:       "mlframework-holder",
		rights.PiecesPrefix + "x": "mlframework-pieces",
		rights.LinesPrefix + "x":  "",
	} {
		var got []string
		for _, p := range rights.Policies() {
			if regexp.MustCompile(p.Pattern).MatchString(queue) {
				got = append(got, p.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q; want %q", queue, got, want)
		}
	}
}

// Of the definitions nothing is forgotten that the users say. The password is RabbitMQ's own
// example.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	if got := rights.Hash([4]byte{0x90, 0x8d, 0xc6, 0x0a},
		"test12"); got != "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR" {
		t.Errorf("the hash is %s", got)
	}
	var got struct {
		Users []struct {
			Name   string         `json:"name"`
			Hash   string         `json:"password_hash"`
			Tags   string         `json:"tags"`
			Limits map[string]int `json:"limits"`
		}
		Permissions []map[string]string
		Topics      []map[string]string `json:"topic_permissions"`
		Policies    []struct{ Name string }
	}
	worker := rights.UserOfWorker("w1")
	data := rights.Definitions("/", []rights.Login{{User: rights.MasterUser(), Hash: "h1"},
		{User: worker, Hash: "h2"}})
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Users) != 2 || got.Users[1].Name != "worker-w1" || got.Users[1].Hash != "h2" ||
		got.Users[1].Tags != "" ||
		got.Users[1].Limits["max-connections"] != worker.Connections ||
		got.Users[1].Limits["max-channels"] != worker.Channels || len(got.Users[0].Limits) != 0 {
		t.Errorf("the users are %+v", got.Users)
	}
	want := map[string]string{"user": "worker-w1", "vhost": "/", "configure": worker.Configure,
		"write": worker.Write, "read": worker.Read}
	if diff := cmp.Diff(want, got.Permissions[1]); diff != "" {
		t.Errorf("its permissions (-want +got):\n%s", diff)
	}
	at := slices.IndexFunc(got.Topics, func(m map[string]string) bool {
		return m["user"] == "worker-w1"
	})
	want = map[string]string{"user": "worker-w1", "vhost": "/", "exchange": rights.FromWorkers,
		"write": worker.Topics[0].Write, "read": worker.Topics[0].Read}
	if diff := cmp.Diff(want, got.Topics[at]); diff != "" {
		t.Errorf("its topics (-want +got):\n%s", diff)
	}
	if len(got.Policies) != len(rights.Policies()) {
		t.Errorf("there are %d policies", len(got.Policies))
	}
}

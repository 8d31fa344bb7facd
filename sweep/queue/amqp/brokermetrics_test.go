package amqp_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/queue/amqp"
)

// What RabbitMQ 3.10.8 answered, with other figures and a queue of another virtual host. The lab's
// tests ask a real one.
func TestUnacked(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/metrics-3.10.8.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := amqp.ReadUnacked(strings.NewReader(string(text)), "/")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"heartbeats": 0, "events": 120, "dead": 0, "lines.LXZM6XTY5G23": 0,
		"pieces.LXZM6XTY5G23": 0, "tasks.w1": 3,
		"control.w1.QVNK2C7GSSK2": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, wrong := range []string{"", "# TYPE x gauge\nx 1\n", "<html>",
		"rabbitmq_detailed_queue_messages_unacked{"} {
		if got, err := amqp.ReadUnacked(strings.NewReader(wrong), "/"); err == nil {
			t.Errorf("%q: %v", wrong, got)
		}
	}
}

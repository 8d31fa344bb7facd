package rights

// Policy is what a broker does with queues whose names match. Of several that match one queue only one counts: those of
// Policies exclude each other.
type Policy struct {
	Name       string
	Pattern    string // a regular expression over names of queues
	Definition map[string]any
}

// redeliveries is how often a quorum queue may hand out one message, where RabbitMQ 4 drops it after 20: a message comes
// back whenever a worker loses its connection, which is no fault of the message. What it gives up on goes to DeadQueue.
const redeliveries = 1000

// LongestMessage is the longest message that the broker takes, in bytes: it holds several before it
// knows what to do with them, and so does whoever reads. A batch has a definition, which is in a
// file of at most a MiB, and is divided where it is longer.
const LongestMessage = 2 << 20

// Bounds of what may lie on the broker, so that no worker fills it. An event that does not fit is refused, and its worker
// keeps it; of what may be lost the oldest goes.
const (
	eventsBytes     = 256 << 20
	heartbeatsCount = 20_000
	heartbeatsBytes = 16 << 20
	controlCount    = 4096 // for each worker
	controlBytes    = 16 << 20
	piecesBytes     = 32 << 20
	reportedCount   = 2_000
	reportedBytes   = 16 << 20
	deadCount       = 20_000
	deadBytes       = 64 << 20
)

// Policies returns the policies. Queues of live output are not among them: their bound is an argument, as what is left
// out is counted.
func Policies() []Policy {
	durable := func(more map[string]any) map[string]any {
		d := map[string]any{"delivery-limit": redeliveries, "dead-letter-exchange": "", "dead-letter-routing-key": DeadQueue}
		for key, value := range more {
			d[key] = value
		}
		return d
	}
	oldestGoes := func(count, bytes int) map[string]any {
		d := map[string]any{"max-length-bytes": bytes, "overflow": "drop-head"}
		if count > 0 {
			d["max-length"] = count
		}
		return d
	}
	// What these give up on is gone: a worker could have its reports put aside without end.
	reported, dead := oldestGoes(reportedCount, reportedBytes), oldestGoes(deadCount, deadBytes)
	reported["delivery-limit"], dead["delivery-limit"] = redeliveries, redeliveries
	return []Policy{
		{"mlframework", only(tasksPrefix + "*"), durable(nil)},
		{"mlframework-events", only(EventsQueue), durable(map[string]any{"max-length-bytes": eventsBytes, "overflow": "reject-publish"})},
		{"mlframework-heartbeats", only(HeartbeatsQueue), oldestGoes(heartbeatsCount, heartbeatsBytes)},
		{"mlframework-control", only(controlPrefix + "*"), oldestGoes(controlCount, controlBytes)},
		{"mlframework-pieces", only(PiecesPrefix + "*"), oldestGoes(0, piecesBytes)},
		{"mlframework-letters", only(WorkerDeadQueue), reported},
		{"mlframework-dead", only(DeadQueue), dead},
	}
}

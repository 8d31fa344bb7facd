package rights

// Policy is what a broker does with queues whose names match. Of several that match one queue only
// one counts: those of Policies exclude each other.
type Policy struct {
	Name       string
	Pattern    string // a regular expression over names of queues
	Definition map[string]any
}

// deliveryLimit is how often a quorum queue may hand out one message, where RabbitMQ 4 drops it
// after 20: a message comes back whenever a worker loses its connection, which is no fault of the
// message. What it gives up on is gone, as if somebody had purged it.
const deliveryLimit = 1000

// Bounds of what may lie on the broker, so that no worker fills it. An event that does not fit is
// refused, and its worker keeps it; so are tasks, and the master keeps them or sends them again. Of
// what may be lost the oldest goes.
const (
	maxTasksBytes      = 256 << 20 // for each worker
	maxEventsBytes     = 256 << 20
	maxHeartbeats      = 20_000
	maxHeartbeatsBytes = 16 << 20
	maxControls        = 4096 // for each worker
	maxControlsBytes   = 16 << 20
	maxPiecesBytes     = 32 << 20
)

// Policies returns the policies. Queues of live output are not among them: their bound is an
// argument, as what is left out is counted.
func Policies() []Policy {
	durable := func(bytes int) map[string]any {
		return map[string]any{"delivery-limit": deliveryLimit, "max-length-bytes": bytes,
			"overflow": "reject-publish"}
	}
	oldestGoes := func(count, bytes int) map[string]any {
		d := map[string]any{"max-length-bytes": bytes, "overflow": "drop-head"}
		if count > 0 {
			d["max-length"] = count
		}
		return d
	}
	return []Policy{
		{"mlframework", matchNames(tasksPrefix + "*"), durable(maxTasksBytes)},
		{"mlframework-events", matchNames(EventsQueue), durable(maxEventsBytes)},
		{"mlframework-heartbeats", matchNames(HeartbeatsQueue),
			oldestGoes(maxHeartbeats, maxHeartbeatsBytes)},
		{"mlframework-control", matchNames(controlPrefix + "*"),
			oldestGoes(maxControls, maxControlsBytes)},
		{"mlframework-holder", matchNames(MasterHolder), oldestGoes(1, MaxMessageBytes)},
		{"mlframework-pieces", matchNames(PiecesPrefix + "*"), oldestGoes(0, maxPiecesBytes)},
	}
}

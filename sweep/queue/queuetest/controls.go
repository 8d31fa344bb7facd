package queuetest

import (
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

var messageTests = []contractTest{
	{"a control message reaches one worker", nil, controlByWorker},
	{"control messages come in order", nil, controlInOrder},
	{"a control message to nobody returns", nil, controlToNobody},
	{"heartbeats of all workers come", nil, heartbeats},
	{"pieces come as they were sent", nil, pieces},
	{"a piece that nobody waits for is no error", nil, pieceToNobody},
}

func isControlProbe(c task.Control) bool { return c.Sweep == probe }

func stopOf(sweep string, n int) task.Control {
	return task.Control{Version: task.Version, Kind: task.StopControl, Sweep: sweep,
		Index: int64(n), Attempt: 1, Off: true, Reason: "cancelled"}
}

func control(t *testing.T, h queue.MasterEndpoint, worker string, c task.Control) {
	t.Helper()
	if err := h.SendControl(t.Context(), worker, c); err != nil {
		t.Fatalf("control: %v", err)
	}
}

func controlByWorker(t *testing.T, f Fixture) {
	c1, c2 := listen(t, f, "w1"), listen(t, f, "w2")
	control(t, f.Master, "w1", stopOf("for-w1", 0))
	control(t, f.Master, "w2", stopOf("for-w2", 0))
	equal(t, nextUnprobed(t, c1, isControlProbe), stopOf("for-w1", 0))
	equal(t, nextUnprobed(t, c2, isControlProbe), stopOf("for-w2", 0))
	control(t, f.Master, "w1", stopOf("last", 0)) // nothing else waits before it
	equal(t, nextUnprobed(t, c1, isControlProbe), stopOf("last", 0))
}

func controlInOrder(t *testing.T, f Fixture) {
	c := listen(t, f, "w1")
	for n := range 20 {
		control(t, f.Master, "w1", stopOf("a-1", n))
	}
	for n := range 20 {
		equal(t, nextUnprobed(t, c, isControlProbe), stopOf("a-1", n))
	}
}

func controlToNobody(t *testing.T, f Fixture) {
	control(t, f.Master, "nobody", stopOf("a-1", 0))
}

func heartbeats(t *testing.T, f Fixture) {
	p1, p2 := f.Worker("w1"), f.Worker("w2")
	h1 := task.Heartbeat{Version: task.Version, Worker: "w1", Incarnation: "1", Host: "gpu1",
		Slots: 2, Draining: true}
	h2 := task.Heartbeat{Version: task.Version, Worker: "w2", Incarnation: "2", Host: "gpu2",
		Slots: 1}
	h1.Running = []task.Busy{{Sweep: "a-1", Index: 3, Attempt: 2, Slot: 1,
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}
	h1.Load = &task.Load{Cores: 2, CPU: 0.5, MemoryTotal: 1 << 40}
	sent, seen := map[string]task.Heartbeat{"w1": h1, "w2": h2}, map[string]bool{}
	sendUntil(t, messages(t, f.Master.Heartbeats), func(h task.Heartbeat) bool {
		equal(t, h, sent[h.Worker])
		seen[h.Worker] = true
		return len(seen) == 2
	}, func() error {
		if err := p1.SendHeartbeat(t.Context(), h1); err != nil {
			return err
		}
		return p2.SendHeartbeat(t.Context(), h2)
	})
}

func isPieceProbe(p task.Piece) bool { return p.ID == probe }

// piece is as long as one may be, and its data is not text.
func piece(worker, id string) task.Piece {
	data := make([]byte, task.MaxPieceBytes)
	for n := range data {
		data[n] = byte(n * 7)
	}
	return task.Piece{Version: task.Version, ID: id, Worker: worker, Offset: 1 << 40, Data: data,
		Size: 1<<40 + 5, Absent: true, Error: "ü"}
}

func pieces(t *testing.T, f Fixture) {
	c := messages(t, f.Master.Pieces)
	for _, worker := range []string{"w1", "w2"} {
		p := f.Worker(worker)
		sendUntil(t, c, isPieceProbe, func() error {
			return p.SendPiece(t.Context(),
				task.Piece{ID: probe, Worker: worker})
		})
		for _, id := range []string{"r1", "r2"} {
			if err := p.SendPiece(t.Context(), piece(worker, id)); err != nil {
				t.Fatalf("send: %v", err)
			}
			equal(t, nextUnprobed(t, c, isPieceProbe), piece(worker, id))
		}
	}
}

func pieceToNobody(t *testing.T, f Fixture) {
	for n := range 200 { // more than anybody keeps
		if err := f.Worker("w1").SendPiece(t.Context(), piece("w1", "r1")); err != nil {
			t.Fatalf("send piece %d: %v", n, err)
		}
	}
}

package queuetest

import (
	"testing"

	"mlframework/sweep/task"
)

var versionTests = []contractTest{
	{"what is of a newer version comes, with what every version has", nil, newerVersions},
	{"what is of a newer version keeps its place", nil, newerInOrder},
}

const newer = task.Version + 1

func newerVersions(t *testing.T, f Fixture) {
	p, ctx := f.Worker("w1"), t.Context()
	b := batch("a-1", 3)
	b.Version = newer
	publish(t, f, "w1", b)
	got := open(t, p.Consume).take(t, 1)[0]
	equal(t, []any{got.Version, got.Sweep, got.Attempts[0].Index, got.Attempts[0].Number},
		[]any{newer, "a-1", int64(3), 1})

	e := fullEvent()
	e.Version = newer
	emit(t, p, e)
	came := open(t, f.Master.Events).take(t, 1)[0]
	equal(t, []any{came.Version, came.Kind, came.Worker, came.Sweep, came.Index, came.Attempt},
		[]any{newer, e.Kind, e.Worker, e.Sweep, e.Index, e.Attempt})

	c := listen(t, f, "w1")
	control(t, f.Master, "w1", task.Control{Version: newer, Kind: task.StopControl, Sweep: "a-1"})
	told := nextUnprobed(t, c, isControlProbe)
	equal(t, []any{told.Version, told.Kind}, []any{newer, task.StopControl})

	h := task.Heartbeat{Version: newer, Worker: "w1", Incarnation: "i", Program: "9.0",
		Host: "gpu1", Slots: 4}
	if err := p.SendHeartbeat(ctx, h); err != nil {
		t.Fatalf("beat: %v", err)
	}
	beat := receive(t, messages(t, f.Master.Heartbeats))
	equal(t, []any{beat.Version, beat.Worker, beat.Incarnation, beat.Program, beat.Host},
		[]any{newer, "w1", "i", "9.0", "gpu1"})

	var piece task.Piece
	sendUntil(t, messages(t, f.Master.Pieces),
		func(got task.Piece) bool { piece = got; return true }, func() error {
			return p.SendPiece(ctx, task.Piece{Version: newer, ID: "7", Worker: "w1",
				Data: []byte("text")})
		})
	equal(t, []any{piece.Version, piece.ID, piece.Worker}, []any{newer, "7", "w1"})
}

func newerInOrder(t *testing.T, f Fixture) {
	all := events("w1", "a-1", 0, 30)
	for n := 1; n < len(all); n += 3 {
		all[n].Version = newer
	}
	emit(t, f.Worker("w1"), all...)
	came := open(t, f.Master.Events).take(t, len(all))
	checkOrder(t, came, len(all), false, ofEvent)
	for n, e := range came {
		if e.Version != all[n].Version {
			t.Errorf("event %d came with version %d; want %d", n, e.Version, all[n].Version)
		}
	}
}

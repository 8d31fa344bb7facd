package queuetest

import (
	"context"
	"testing"

	"mlframework/sweep/task"
)

var streamTests = []contractTest{
	{"idle streams are closed when their context ends", nil, streamsClose},
	{"streams that nobody reads are closed when their context ends", nil, unreadStreamsClose},
	{"streams of an ended context are closed and take nothing with them", nil, endedStreams},
	{"streams are closed in an outage when their context ends", needsOutage, streamsCloseAway},
}

// streams opens one of each kind and returns what checks that all are closed.
func streams(ctx context.Context, f Fixture) (closed func(t *testing.T)) {
	p := f.Worker("w1")
	batches, events := p.Consume(ctx), f.Master.Events(ctx)
	controls, beats, lines, pieces := p.Controls(ctx), f.Master.Heartbeats(ctx),
		f.Master.Lines(ctx), f.Master.Pieces(ctx)
	return func(t *testing.T) {
		t.Helper()
		untilClosed(t, batches)
		untilClosed(t, events)
		untilClosed(t, controls)
		untilClosed(t, beats)
		untilClosed(t, lines)
		untilClosed(t, pieces)
	}
}

// fill sends two of everything.
func fill(t *testing.T, f Fixture) {
	t.Helper()
	p := f.Worker("w1")
	publish(t, f, "w1", batches("a-1", 0, 2)...)
	emit(t, p, events("w1", "a-1", 0, 2)...)
	for n := range 2 {
		control(t, f.Master, "w1", stopOf("a-1", n))
		if err := p.SendHeartbeat(t.Context(), task.Heartbeat{Worker: "w1"}); err != nil {
			t.Fatalf("beat: %v", err)
		}
		if err := p.SendPiece(t.Context(), task.Piece{Worker: "w1"}); err != nil {
			t.Fatalf("send: %v", err)
		}
		p.OfferLine(line(n))
	}
}

func streamsClose(t *testing.T, f Fixture) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	closed := streams(ctx, f)
	stop()
	closed(t)
}

func unreadStreamsClose(t *testing.T, f Fixture) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	closed := streams(ctx, f)
	fill(t, f)
	stop()
	closed(t)
	checkDurable(t, f)
}

// endedStreams opens streams that are over at once, many times: whichever of "there is something"
// and "it is over" such a stream sees first, the next stream gets everything.
func endedStreams(t *testing.T, f Fixture) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	fill(t, f)
	for range 20 {
		streams(ctx, f)(t)
	}
	checkDurable(t, f)
}

// checkDurable checks that what fill sent durably still comes.
func checkDurable(t *testing.T, f Fixture) {
	t.Helper()
	equal(t, open(t, f.Worker("w1").Consume).take(t, 2), batches("a-1", 0, 2))
	equal(t, open(t, f.Master.Events).take(t, 2), events("w1", "a-1", 0, 2))
}

func streamsCloseAway(t *testing.T, f Fixture) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	before := streams(ctx, f)
	f.Outage(true)
	defer f.Outage(false)
	during := streams(ctx, f)
	stop()
	before(t)
	during(t)
}

package infra

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"mlframework/infra/filesync"
)

// One decision is about what all hosts are to send, when the last of them has said it, or failed.
func TestFetchesAreDecidedOnTogether(t *testing.T) {
	t.Parallel()
	for _, answer := range []error{nil, io.ErrNoProgress} {
		var asked []filesync.FetchSize
		m := newMeeting(4, func(s filesync.FetchSize) error {
			asked = append(asked, s)
			return answer
		})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				err := m.come(t.Context(), filesync.FetchSize{Files: 2, Bytes: 10, Room: 1})
				if err != answer {
					t.Errorf("%v, want %v", err, answer)
				}
			})
		}
		all.Go(m.leave)
		all.Wait()
		if len(asked) != 1 || asked[0] != (filesync.FetchSize{Files: 6, Bytes: 30, Room: 3}) {
			t.Errorf("decided on %+v", asked)
		}
	}

	m := newMeeting(1, func(filesync.FetchSize) error { return errors.New("nothing is to come") })
	m.leave()
	if m.err != nil {
		t.Error(m.err)
	}

	m = newMeeting(2, func(filesync.FetchSize) error { return nil })
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.ErrClosedPipe)
	if err := m.come(ctx, filesync.FetchSize{Files: 1}); err != io.ErrClosedPipe {
		t.Errorf("interrupted: %v", err)
	}
}

package core_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// unreadable is written, and cannot be read again.
type unreadable struct{}

func (*unreadable) UnmarshalJSON([]byte) error { return errors.New("it is there twice") }

// What could not be read again is not kept.
func TestStoredIsReadBack(t *testing.T) {
	t.Parallel()
	r := core.Record{Version: task.Version, Space: spaceOf(t, "lr: [0.1, 1]")}
	text, err := r.Stored()
	var back core.Record
	if err != nil || json.Unmarshal([]byte(text), &back) != nil || back.Space.Len() != 2 {
		t.Errorf("%s, %v", text, err)
	}
	text, err = core.Stored(struct{ Space *unreadable }{&unreadable{}})
	const want = "the sweep's record could not be read again, and is not kept: it is there twice"
	if text != "" || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, %v", text, err)
	}
}

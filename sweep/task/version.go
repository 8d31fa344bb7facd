package task

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Version is that of messages and of records: it counts up with each change that makes another
// program misread one. A reader refuses every other version, in words. So that it can, these fields
// are in every version, and mean the same: of a Batch version, sweep, and attempts with index and
// number; of an Event version, kind, worker, sweep, index and attempt; of a Heartbeat version,
// worker, incarnation, program and host; of a Control version, kind, sweep, index and attempt; of a
// Piece version, id and worker.
const Version = 11

// Foreign reports whether a version is another than this program's; 0, which says none, is not.
func Foreign(version int) bool { return version != 0 && version != Version }

// Mismatch says that a worker and a master speak different versions, and which is to be updated.
func Mismatch(worker, master int) string {
	older := "worker"
	if worker > master {
		older = "master"
	}
	return fmt.Sprintf("the worker's program speaks version %d and the master's version %d: "+
		"update the %s", worker, master, older)
}

// outline has the fields of messages of every version: nothing else is read of other ones.
type outline struct {
	Version     int    `json:"version"`
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Worker      string `json:"worker"`
	Incarnation string `json:"incarnation"`
	Program     string `json:"program"`
	Host        string `json:"host"`
	Sweep       string `json:"sweep"`
	Index       int64  `json:"index"`
	Attempt     int    `json:"attempt"`
	Attempts    []struct {
		Index  int64 `json:"index"`
		Number int   `json:"number"`
	} `json:"attempts"`
}

// readOutline reads the outline of a message of another version into a message; false if body is
// not such a message. A field that has another type now is left out.
func readOutline(body []byte, message any) bool {
	var o outline
	err := json.Unmarshal(body, &o)
	if _, partly := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !partly ||
		!Foreign(o.Version) {
		return false
	}
	known, err := json.Marshal(o)
	return err == nil && json.Unmarshal(known, message) == nil
}

package task

import "time"

// Line is one line of live output, without its line end. Live output is for people who follow: it
// is bounded and may have gaps; the whole output is in the task's files.
type Line struct {
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Host    string    `json:"host"`
	Slot    int       `json:"slot"`
	Stderr  bool      `json:"stderr,omitempty"`
	Time    time.Time `json:"time"`
	Text    string    `json:"text"`
	Missed  int64     `json:"missed,omitempty"` // lines of this stream left out before this one
	// Worker is who sent it, as the queue knows: it is not in what travels.
	Worker string `json:"-"`
}

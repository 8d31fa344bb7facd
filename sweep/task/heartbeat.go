package task

import "time"

// Need asks for the values of a sweep's secrets. A worker says it with every heartbeat until they
// come.
type Need struct {
	Sweep   string `json:"sweep"`
	Edition string `json:"edition"` // of the Batch
}

// About is what sealed values are about: they open as the answer to this need of this worker only.
func (n Need) About(worker string) string { return worker + "\n" + n.Sweep + "\n" + n.Edition }

// Heartbeat is how a worker makes itself known: at its start, every two seconds, and when its slots
// change.
type Heartbeat struct {
	Version int    `json:"version"`
	Worker  string `json:"worker"`
	// new with every start of the worker, greater than those before
	Incarnation string `json:"incarnation"`
	// by the clock that the worker's events have
	Time    time.Time `json:"time,omitzero"`
	Program string    `json:"program,omitempty"` // version of the program, for people
	// of the container that it and its attempts run in, by digest; "": none, or not known
	Image string `json:"image,omitempty"`
	// what the container was made of, in the words of who started it; "": not known
	Environment string `json:"environment,omitempty"`
	Host        string `json:"host"`
	Slots       int    `json:"slots"`
	// those that its attempts may get; nil: none
	GPUs []GPU `json:"gpus,omitempty"`
	// why the host's GPUs cannot be listed, or are not yet, for people: GPUs says nothing then of
	// what attempts may get later; "": it has all
	GPUFault string `json:"gpu_fault,omitempty"`
	// it takes nothing new: it was asked to, or is Leaving or Closing
	Draining bool `json:"draining,omitempty"`
	// it was asked to start again, and ends when nothing runs
	Leaving bool `json:"leaving,omitempty"`
	// it ends: what runs is being stopped, with its grace
	Closing bool `json:"closing,omitempty"`
	// why its tasks can reach what it has, though it was to confine them; for people
	Unconfined string `json:"unconfined,omitempty"`
	// why it takes none of the master's tasks, for people; "": it does
	Refuses string `json:"refuses,omitempty"`
	Running []Busy `json:"running,omitempty"`
	// slots whose attempt has ended, while processes that it left are being ended
	Ending    int    `json:"ending,omitempty"`
	Leftovers []Busy `json:"leftovers,omitempty"` // those attempts
	// attempts that were claimed and have not begun
	Waiting int `json:"waiting,omitempty"`
	Unsent  int `json:"unsent,omitempty"` // events that the queue has not taken yet
	// of JoinedEvent and LeftEvent: all that began stands in events before it
	StartsReported bool   `json:"told,omitempty"`
	Load           *Load  `json:"load,omitempty"`
	Needs          []Need `json:"needs,omitempty"` // values of secrets that attempts wait for
	// the public key of the process: what it needs is sealed to the one that it registered with
	Key []byte `json:"key,omitempty"`
}

// Busy is a slot and the attempt whose program runs in it.
type Busy struct {
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Slot    int       `json:"slot"`
	Started time.Time `json:"started"`
}

// Load is how busy a worker's host is. What is not known is 0.
type Load struct {
	Cores int `json:"cores"`
	// part of the cores that was busy since the heartbeat before: 0 to 1
	CPU float64 `json:"cpu"`
	// bytes; of the worker's control group where that has less than the host
	MemoryTotal int64 `json:"memory_total"`
	MemoryFree  int64 `json:"memory_free"` // bytes that programs could still get
	DiskTotal   int64 `json:"disk_total"`  // bytes, of the file system of the outputs
	DiskFree    int64 `json:"disk_free"`
}

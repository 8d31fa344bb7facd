package task

// Read asks for a piece of what a task printed. Sweep, index and attempt are the Control's; 0 is
// the newest attempt.
type Read struct {
	ID     string `json:"id"` // the Piece has it, too
	Stderr bool   `json:"stderr,omitempty"`
	Offset int64  `json:"offset"` // in bytes
	Length int    `json:"length"` // in bytes, at most; no Piece has more than MaxPieceBytes
	// File is the File of an earlier Piece: Offset counts in that file, whatever its name is now.
	// Once nothing follows there and another attempt printed after it, the Piece is of that one,
	// from its beginning. "": Offset counts in the file asked for.
	File string `json:"file,omitempty"`
}

// Piece answers a Read or a Measure.
type Piece struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Worker  string `json:"worker"`
	Offset  int64  `json:"offset"`
	Data    []byte `json:"data,omitempty"`
	Size    int64  `json:"size"` // of the file now, in bytes
	// identifies the file among all of a task; an older worker does not say it
	File   string `json:"file,omitempty"`
	Absent bool   `json:"absent,omitempty"` // there is no such file, or none yet
	Error  string `json:"error,omitempty"`  // why it cannot be read; for people

	Measured *Measured `json:"measured,omitempty"` // the answer to a Measure
}

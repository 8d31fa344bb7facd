package remote

import (
	"bytes"
	"io"
)

// scriptOutput passes on what a script prints, and leaves out what the login shell printed before
// it: files such as ~/.bashrc greet people who only wanted a command to run.
type scriptOutput struct {
	to     io.Writer
	mark   []byte // that the script prints first
	begun  bool
	before []byte // the end of what came so far, until it has begun
}

// mostBefore is how much of what a login shell prints is kept, in bytes.
const mostBefore = 4 << 10

func (o *scriptOutput) Write(p []byte) (int, error) {
	if o.begun {
		return o.to.Write(p)
	}
	o.before = append(o.before, p...)
	at := bytes.Index(o.before, o.mark)
	if at < 0 {
		o.before = o.before[max(0, len(o.before)-mostBefore):]
		return len(p), nil
	}
	rest := o.before[at+len(o.mark):]
	o.begun, o.before = true, nil
	if len(rest) > 0 {
		if _, err := o.to.Write(rest); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

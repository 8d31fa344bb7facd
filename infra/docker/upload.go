package docker

import (
	"errors"
	"io"
)

// reportEvery is how many bytes go by between two reports of a transfer: about ten a second on a
// fast network.
const reportEvery = 4 << 20

// sending is a stream on its way to an engine. The client library may go on reading a body after
// its call has returned; what is between ends that, so that the caller's reader is left alone from
// then on.
type sending struct {
	body   *io.PipeReader
	ended  chan struct{}
	failed error // of the caller's reader; after end
}

// send reads src in a goroutine that end waits for.
func send(src io.Reader, report Report) *sending {
	out, in := io.Pipe()
	s := &sending{body: out, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		from := &counted{src: src, report: report}
		_, err := io.Copy(in, from)
		s.failed = from.failed
		in.CloseWithError(err) // nil is the end of the stream
	}()
	return s
}

// end gives the error of a call, which is the reader's own where that broke the call.
func (s *sending) end(err error) error {
	s.body.Close()
	<-s.ended
	if err != nil && s.failed != nil {
		return s.failed
	}
	return err
}

// counted reports how much of a stream was read, and keeps the error at which it ended.
type counted struct {
	src            io.Reader
	report         Report
	done, reported int64
	failed         error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.done += int64(n)
	if c.done-c.reported >= reportEvery || err != nil && c.done > c.reported {
		c.reported = c.done
		c.report(Progress{Status: "sent", Done: c.done})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.failed = err
	}
	return n, err
}

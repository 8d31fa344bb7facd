package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
)

// AttachmentHeader names, in a request that starts or continues a sweep, the attachment that the
// sweep stops with.
const AttachmentHeader = "Attachment"

// AttachmentProtocol is the value of the header Upgrade with which a client attaches to the runner
// of a folder. After the answer, 101, the connection carries lines, a verb and, after a space, its
// object. The first from the runner is the id of the attachment.
const AttachmentProtocol = "mlframework-attachment"

// The verbs of an attachment's connection.
const (
	// from the client
	Interrupt = "interrupt" // SWEEP: pause it, and stop its attempts, with their grace
	Kill      = "kill"      // SWEEP: as Interrupt, without grace
	Leave     = "leave"     // the sweeps of the client are not stopped with it any more
	// from the runner
	Ended = "ended" // after Leave: it ends, as no other client is attached and no sweep runs
	Stays = "stays" // after Leave: it does not
	// after Ended: before that, it stops processes that tasks left behind
	Lingers = "lingers"
	Logs    = "logs"   // TEXT, as a string of JSON: what it logs
	Failed  = "failed" // TEXT: the error with which it ends
)

// Attachment is a client's presence at the runner of a folder, which does not end before it. The
// sweeps that the client starts or continues with its ID are interrupted when the connection ends
// without [Attachment.Leave], as when the client is killed, unless other clients are attached that
// have them, too.
type Attachment struct {
	ID string

	conn    net.Conn
	log     func(text string)
	left    chan bool     // the answer to Leave; closed with the connection
	lingers chan struct{} // closed by Lingers
	failure string        // set before ended is closed
	ended   chan struct{}
	once    sync.Once
}

// Attach attaches this client. What the runner logs is passed to log, from another goroutine. The
// error is *Unreachable if there is no runner, and *Error with
// http.StatusServiceUnavailable if it is about to end.
func (c *Client) Attach(ctx context.Context, log func(text string)) (*Attachment, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	a, err := c.attach(conn, log)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return a, nil
}

func (c *Client) attach(conn net.Conn, log func(string)) (*Attachment, error) {
	r, err := http.NewRequest(http.MethodGet, "http://master"+Root+"/attachment", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", AttachmentProtocol)
	if err := r.Write(conn); err != nil {
		return nil, c.connectionLost(err)
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, r)
	if err != nil {
		return nil, c.connectionLost(err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		defer answer.Body.Close()
		return nil, refusal(answer)
	}
	id, err := in.ReadString('\n')
	if err != nil {
		return nil, c.connectionLost(err)
	}
	a := &Attachment{ID: strings.TrimSpace(id), conn: conn, log: log, left: make(chan bool, 1),
		lingers: make(chan struct{}), ended: make(chan struct{})}
	go a.read(in)
	return a, nil
}

func (a *Attachment) read(in *bufio.Reader) {
	defer close(a.left)
	linger := sync.OnceFunc(func() { close(a.lingers) })
	end := sync.OnceFunc(func() { close(a.ended) })
	defer end()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		verb, object, _ := strings.Cut(strings.TrimSpace(line), " ")
		var text string
		switch _ = json.Unmarshal([]byte(object), &text); verb { // "" is right where there is none
		case Logs:
			a.log(text)
		case Failed:
			a.failure = text
			end()
		case Ended, Stays:
			select {
			case a.left <- verb == Ended:
			default: // it was not asked
			}
		case Lingers:
			linger()
		}
	}
}

// Interrupt pauses a sweep and stops its attempts: with their grace, or with kill at once.
func (a *Attachment) Interrupt(sweep string, kill bool) error {
	verb := Interrupt
	if kill {
		verb = Kill
	}
	_, err := fmt.Fprintln(a.conn, verb, sweep)
	return err
}

// Leave ends the attachment, and leaves its sweeps as they are. It reports whether the runner ends
// now: then the connection stays open until it has. Close it in any case.
func (a *Attachment) Leave() (ended bool, err error) {
	if _, err := fmt.Fprintln(a.conn, Leave); err != nil {
		return false, err
	}
	ended, ok := <-a.left
	if !ok {
		return false, errors.New("the runner has closed the connection")
	}
	return ended, nil
}

// AwaitEnd waits after Leave until the runner has ended ([Ended]), or says that it lingers
// ([Lingers]), or ctx ends ([Stays]).
func (a *Attachment) AwaitEnd(ctx context.Context) string {
	select {
	case <-a.ended:
		return Ended
	case <-a.lingers:
		return Lingers
	case <-ctx.Done():
		return Stays
	}
}

// Failure waits until the runner tells the error with which it ends, as it is printed, and returns
// that; "" if the connection or ctx ended before, as when the runner was killed.
func (a *Attachment) Failure(ctx context.Context) string {
	select {
	case <-a.ended:
		return a.failure
	case <-ctx.Done():
		return ""
	}
}

// Close ends the connection: the runner interrupts the sweeps of the attachment unless it was left.
func (a *Attachment) Close() { a.once.Do(func() { _ = a.conn.Close() }) }

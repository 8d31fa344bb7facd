package agent

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"mlframework/infra/layout"
)

// Program is sweepd for the hosts of one architecture, as it lies on this machine.
type Program struct {
	Arch string // as Go names it
	File string
	Sum  string // SHA-256 of its content, in hex
	Size int64  // bytes
}

// ReadProgram reads what a file is. Its errors are those of package os.
func ReadProgram(arch, file string) (Program, error) {
	f, err := os.Open(file)
	if err != nil {
		return Program{}, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	return Program{arch, file, hex.EncodeToString(sum.Sum(nil)), size}, err
}

// Hash returns the name under which containers find the program: 16 hex digits of its SHA-256.
func (p Program) Hash() string { return p.Sum[:min(16, len(p.Sum))] }

// Fault is a host on which the agent does not run.
type Fault struct {
	Host   string
	Cause  string
	Remedy string
}

func (f *Fault) Error() string { return f.Host + ": " + f.Cause + ": " + f.Remedy }

// Pipe starts a command on a host and returns its standard input and output. ctx is about the start
// only.
type Pipe func(ctx context.Context, argv ...string) (net.Conn, error)

//go:embed bootstrap.sh
var script string

// bootstrap is the script behind the names that it uses.
var bootstrap = "folder=" + layout.Cache + " prefix=" + layout.CachedPrefix + " parts=" +
	layout.CachedPart + "\n" + script

// Words of the host, each the first of a line behind mark.
const (
	mark      = "mlframework-agent "
	wordSend  = "send"
	wordFault = "fault"
	wordReady = "ready"
)

// Ready is the line that the agent says before it answers requests.
const Ready = mark + wordReady + "\n"

// maxNoise is how much a login shell may print beside the words, in bytes.
const maxNoise = 64 << 10

// Start starts the agent on a host. One of the programs is sent where the host does not have it,
// which may take long: brings is called before. ctx bounds the start alone.
//
// Errors are *Fault where the host answers and the agent cannot run there, those of pipe, those of
// reading the program's file, and the cause of ctx.
func Start(
	ctx context.Context, host string, pipe Pipe, programs []Program, brings func(),
) (*Client, error) {
	argv := []string{"sh", "-c", bootstrap, "sh"}
	for _, p := range programs {
		argv = append(argv, p.Arch, p.Sum, strconv.FormatInt(p.Size, 10))
	}
	conn, err := pipe(ctx, argv...)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	s := &start{host: host, conn: conn, from: bufio.NewReader(conn), programs: programs,
		brings: brings}
	err = s.run()
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return newClient(host, &buffered{conn, s.from}, s.sent), nil
}

// buffered is a connection of which something was read already.
type buffered struct {
	net.Conn
	from *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.from.Read(p) }

// start is one call of Start.
type start struct {
	host     string
	conn     net.Conn
	from     *bufio.Reader
	programs []Program
	brings   func()
	sent     bool // the program
	noise    int  // bytes
}

// run does what the host says until the agent is ready.
func (s *start) run() error {
	sending := make(chan error, 1)
	for {
		word, text, err := s.next()
		switch {
		case err != nil && len(sending) > 0:
			return errors.Join(<-sending, err)
		case err != nil:
			return err
		case word == wordReady:
			return nil
		case word == wordFault:
			return s.fault(text)
		case word != wordSend || s.sent:
			return fmt.Errorf("start the agent: the host says %q", word)
		}
		i := slices.IndexFunc(s.programs, func(p Program) bool { return p.Arch == text })
		if i < 0 {
			return fmt.Errorf("start the agent: the host asks for a program for %q", text)
		}
		s.sent = true
		s.brings()
		go func() { // the host may say that it has no room while it is sent
			err := s.send(s.programs[i])
			sending <- err
			if err != nil {
				s.conn.Close()
			}
		}()
	}
}

// next reads the host's next word, and what follows it on the line.
func (s *start) next() (word, text string, err error) {
	for {
		line, err := s.from.ReadSlice('\n')
		if s.noise += len(line); s.noise > maxNoise {
			return "", "", fmt.Errorf("start the agent: the login shell prints more than %d bytes",
				maxNoise)
		}
		if _, said, is := strings.Cut(string(line), mark); is && err == nil {
			word, text, _ = strings.Cut(strings.TrimSpace(said), " ")
			return word, text, nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return "", "", &Fault{s.host, "the agent does not start, and the host does not say why",
				"see that `ssh HOST sh -c true` runs there and prints nothing"}
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return "", "", fmt.Errorf("start the agent: %w", err)
		}
	}
}

// send sends a program.
func (s *start) send(p Program) error {
	f, err := os.Open(p.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if n, err := io.Copy(s.conn, io.LimitReader(f, p.Size)); err != nil || n != p.Size {
		return fmt.Errorf("send %s: %d of %d bytes: %w", p.File, n, p.Size, err)
	}
	return nil
}

// fault says what the host's words mean.
func (s *start) fault(said string) error {
	kind, text, _ := strings.Cut(said, " ")
	f := &Fault{Host: s.host}
	switch kind {
	case "system":
		f.Cause = "it runs " + text + ", and sweepd runs on Linux on x86_64 and aarch64"
		f.Remedy = "take another host"
	case "program":
		f.Cause = "there is no sweepd for its architecture, " + text
		f.Remedy = "scripts/install PREFIX builds all commands, with sweepd beside them"
	case "folder":
		f.Cause = "the folder for sweepd cannot be made: " + text
		f.Remedy = "let the user write there, or set XDG_CACHE_HOME in its shell's startup file"
	case "foreign":
		f.Cause = text + ", the folder for sweepd, belongs to another user, who could put a " +
			"program there"
		f.Remedy = "remove it, or set XDG_CACHE_HOME in the shell's startup file"
	case "write":
		f.Cause = "sweepd cannot be written there: " + text
		f.Remedy = "free 100 MB in the home folder, or set XDG_CACHE_HOME in the shell's " +
			"startup file"
	case "tool":
		f.Cause = "it lacks " + text
		f.Remedy = "install it; Debian, Ubuntu: apt-get install coreutils"
	case "damaged":
		f.Cause = "sweepd arrived damaged in " + text
		f.Remedy = "try again; if that does not help, look at the host's disk"
	case "exec":
		f.Cause = "it does not run " + text + ": the folder may be mounted with noexec"
		f.Remedy = "mount it without, or set XDG_CACHE_HOME in the shell's startup file to a " +
			"folder where programs may run"
	default:
		f.Cause, f.Remedy = "the agent does not start: "+said, "try again"
	}
	return f
}

package docker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
)

// look prints what a host has of Docker, one word and its value a line. Its arguments are sockets. Plain POSIX shell.
const look = `echo "user $(id -un)"
command -v docker >/dev/null 2>&1 && echo "client yes"
command -v dockerd >/dev/null 2>&1 && echo "daemon yes"
for s; do
	if [ -S "$s" ]; then echo "socket $s"; [ -w "$s" ] && echo "open $s"; fi
done
exit 0`

// unreached is the error when no way led to an engine. What a forbidden forward and a missing socket say is the same text, so
// the host itself is asked what it has.
func unreached(ctx context.Context, host Host, name string, tried []way, cause error) error {
	f := &Fault{Kind: Gone, Op: "reach docker", Host: name, err: cause}
	var sockets []string
	for _, w := range tried {
		if w.socket != "" {
			sockets = append(sockets, w.socket)
		}
	}
	has, err := inspect(ctx, host, sockets)
	at := strings.Join(sockets, ", ")
	switch {
	case err != nil:
		f.Detail = "Docker is not installed there (https://docs.docker.com/engine/install/), or not running " +
			"(sudo systemctl start docker), or the user may not use it (sudo usermod -aG docker USER, then log in again)"
	case has["socket"] != "" && has["open"] == "":
		f.Kind = PermissionDenied
		f.Detail = fmt.Sprintf("%s may not use %s, and sudo asks for a password; let an administrator run "+
			"`sudo usermod -aG docker %s` there, then log in again", has["user"], has["socket"], has["user"])
	case has["socket"] != "" && has["client"] == "":
		f.Detail = fmt.Sprintf("%s is there, but the connection to it is refused and the docker command that could stand in is not installed: "+
			"see that sshd allows AllowStreamLocalForwarding and AllowTcpForwarding, or install docker-cli there", has["socket"])
	case has["socket"] != "" || has["client"] != "" || has["daemon"] != "":
		f.Detail = fmt.Sprintf("Docker is installed but does not answer at %s: start it with `sudo systemctl start docker` there", at)
	default:
		f.Detail = "Docker is not installed there: see https://docs.docker.com/engine/install/"
	}
	return f
}

// inspect runs look on the host. Of several values for one word the last counts.
func inspect(ctx context.Context, host Host, sockets []string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	conn, err := host.Pipe(ctx, append([]string{"sh", "-c", look, "sh"}, sockets...)...)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	text, err := io.ReadAll(io.LimitReader(conn, 64<<10))
	if err != nil {
		return nil, err
	}
	has := map[string]string{}
	for line := range bytes.Lines(text) {
		word, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		has[word] = value
	}
	if has["user"] == "" {
		return nil, fmt.Errorf("the host did not say what it has: %q", text)
	}
	return has, nil
}

package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types/image"
)

// PullImage fetches an image from its registry. Without a tag or digest it fetches "latest".
//
// An engine has no logins: they belong to the user, in ~/.docker/config.json of the host or behind
// a credential helper of it. Rather than carry them here and back, the host's own docker command
// pulls where the registry refuses without a login; it finds them as it does for the user. Faults:
// NotFound, Unauthorized (with the command that logs in), NoSpace.
func (e *Engine) PullImage(ctx context.Context, ref string, report Report) error {
	op := "pull image " + ref
	report = report.one()
	err := e.fail(op, e.pull(ctx, ref, report))
	var refused *Fault
	if !errors.As(err, &refused) || refused.Kind != Unauthorized {
		return err
	}
	again := e.pullByCommand(ctx, ref, report)
	err = e.fail(op, again)
	switch KindOf(err) {
	case Unauthorized:
	case Other: // as where there is no such command
		refused.Detail += "; and with the host's login: " + again.Error()
	default:
		return err
	}
	refused.Detail += fmt.Sprintf(": when the name is right, log in there with `docker login%s`",
		registry(ref))
	return refused
}

func (e *Engine) pull(ctx context.Context, ref string, report Report) error {
	body, err := e.api.ImagePull(ctx, ref, image.PullOptions{})
	if err != nil {
		return err
	}
	defer body.Close()
	err = messages(body, report, nil)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// registry is the argument of docker login, with a blank before it: nothing for Docker's own.
func registry(ref string) string {
	first, _, more := strings.Cut(ref, "/")
	if more && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return " " + first
	}
	return ""
}

// byCommand pulls "$1" and says at last how that ended. A login belongs to the user also where root
// has to pull.
const byCommand = `exec 2>&1
sudo=
docker version >/dev/null 2>&1 || sudo='sudo -n'
$sudo docker --config "${DOCKER_CONFIG:-$HOME/.docker}" pull "$1"
echo "exit $?"`

// pullByCommand pulls with the docker command of the host.
func (e *Engine) pullByCommand(ctx context.Context, ref string, report Report) error {
	if e.on.Output == nil {
		return errors.New("no command can be run there")
	}
	printed, err := e.on.Output(ctx, "sh", "-c", byCommand, "sh", ref)
	if err != nil {
		return err
	}
	defer printed.Close()
	defer context.AfterFunc(ctx, func() { _ = printed.Close() })()
	err = readPull(printed, report)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// readPull reads what byCommand prints: "LAYER: STATUS", other lines, and how it ended.
func readPull(r io.Reader, report Report) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), mostMessage)
	var said []string
	for lines.Scan() {
		line := lines.Text()
		if code, ended := strings.CutPrefix(line, "exit "); ended {
			if code == "0" {
				return nil
			}
			return fmt.Errorf("docker pull ended with exit code %s: %s", code,
				strings.Join(said, "; "))
		}
		report(Progress{Status: line})
		said = append(said[max(0, len(said)-2):], line) // the last three say what went wrong
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return fmt.Errorf("docker pull was cut short: %w", io.ErrUnexpectedEOF)
}

// Package probe asks a host what it has and changes nothing there: its user, folders, disk, clock
// and ports.
//
// infra and its plan may import it. What Docker has is asked by package docker.
package probe

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"mlframework/infra/layout"
	"mlframework/nvdocker"
)

// Shell runs a script of a POSIX shell on a host, with arguments, and gives its output to w.
type Shell func(ctx context.Context, script string, args []string, w io.Writer) error

//go:embed script.sh
var script string

// names are what the scripts call what is in the folder of a cluster.
const names = "marker=" + layout.MarkerFile + " programs=" + layout.Programs +
	" program=" + layout.Program + " current=" + layout.Current +
	" hosts=" + layout.Hosts + " outputs=" + layout.Outputs + "\n"

// most is how much of a host's answer is read, in bytes.
const most = 1 << 20

// Host asks a host for its facts. Root is the folder of the cluster, relative to the user's home
// unless absolute; sources are folders, absolute or from "~" on, to follow links of. Now gives the
// time here, to which the host's clock is compared.
func Host(
	ctx context.Context, shell Shell, root string, sources []string, now func() time.Time,
) (Facts, error) {
	var out bounded
	asked := now()
	if err := shell(ctx, names+script, append([]string{root}, sources...), &out); err != nil {
		return Facts{}, fmt.Errorf("ask what the host has: %w", err)
	}
	f, err := parse(out.String(), asked, now())
	if len(f.RealSources) != len(sources) { // one with a line break takes more than one line
		f.RealSources = nil
	}
	return f, err
}

// quick prints the first of what script.sh does, with few programs, and then a file of the folder,
// $2.
const quick = `case $1 in
/*) root=$1 ;;
*) root=$HOME/$1 ;;
esac
echo "uid $(id -u)"
echo "arch $(uname -m)"
printf '%s\n' "root $root"
echo "binaries $(cd "$root/$programs" 2>/dev/null && for hash in $(ls -tr); do [ ! -x "$hash/$program" ] || echo "$hash"; done | tr '\n' ' ')"
[ ! -L "$root/$current" ] || echo "revision $(basename "$(readlink "$root/$current")")"
echo "done yes"
[ ! -e "$root/$2" ] || cat "$root/$2"
`

// Quick asks for what it takes to talk to a cluster, in a fraction of Host's time: Root, UID, Arch,
// Binaries and Revision, and the text of a file in Root, "" where there is none.
func Quick(ctx context.Context, shell Shell, root, file string) (Facts, string, error) {
	var out bounded
	if err := shell(ctx, names+quick, []string{root, file}, &out); err != nil {
		return Facts{}, "", fmt.Errorf("ask where the cluster is: %w", err)
	}
	const end = "done yes\n"
	before, text, _ := strings.Cut(out.String(), end)
	f, err := parse(before+end, time.Time{}, time.Time{})
	return f, text, err
}

// GPUs asks a host for its GPUs, until ctx ends. Each question to their driver takes at most limit.
// What could not be found out is the report's Fault: a host whose driver hangs is a host all the
// same.
func GPUs(ctx context.Context, shell Shell, limit time.Duration) nvdocker.Report {
	program, args := nvdocker.Script(limit)
	var out bounded
	err := shell(ctx, program, args, &out)
	r := nvdocker.Parse(out.Bytes())
	if err != nil && ctx.Err() == nil && len(r.GPUs) == 0 {
		r.Fault = &nvdocker.Problem{Cause: "its GPUs cannot be asked for: " + err.Error()}
	}
	return r
}

// bounded keeps the first bytes of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := most - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// words is a list in one line.
func words(line string) []string { return strings.Fields(line) }

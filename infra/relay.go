package infra

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// What hosts do with a revision, $2, below a root, $1.
const (
	names         = "releases=" + layout.Releases + " manifests=" + layout.Manifests + "\n"
	listRevisions = names + `ls "$1/$manifests" 2>/dev/null || true`
	sendRevision  = names + `cd "$1" && exec tar -cf - "$releases/$2" "$manifests/$2"`
	takeRevision  = names + `set -e
umask 077
cd "$1"
mkdir -p "$releases" "$manifests"
part=$(mktemp -d .relay.XXXXXX)
trap 'chmod -R u+w "$part"; rm -rf "$part"' EXIT
tar -C "$part" -xpf -
chmod u+w "$part/$releases/$2" # a folder that moves is written to
mv "$part/$releases/$2" "$releases/"
chmod u-w "$releases/$2"
mv "$part/$manifests/$2" "$manifests/"
`
)

// relay copies revisions that a host lacks from the master's host, through this machine. What has arrived is verified. One that the
// master's host does not have, either, cannot be run by any worker: that is for its sweep to say.
func (a *applier) relay(ctx context.Context, m *machine, do plan.Relay) error {
	master := a.machines[a.request.Master]
	wanted, err := a.o.Control.Revisions(ctx, a.master())
	if err != nil {
		return err
	}
	if do.CurrentRevision != "" {
		wanted = append(wanted, do.CurrentRevision)
	}
	there, err := m.output(ctx, listRevisions, do.Root)
	if err != nil {
		return err
	}
	source, err := master.output(ctx, listRevisions, master.found.Root)
	if err != nil {
		return err
	}
	slices.Sort(wanted)
	for _, revision := range slices.Compact(wanted) {
		if slices.Contains(strings.Fields(there), revision) || !slices.Contains(strings.Fields(source), revision) {
			continue
		}
		if err := copyRevision(ctx, master, m, do, revision); err != nil {
			return fmt.Errorf("copy the files of revision %s from %s: %w", revision, master.name, err)
		}
	}
	return nil
}

func copyRevision(ctx context.Context, from, to *machine, do plan.Relay, revision string) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(from.script(ctx, sendRevision, []string{from.found.Root, revision}, nil, w)) }()
	err := to.script(ctx, takeRevision, []string{do.Root, revision}, r, nil)
	r.CloseWithError(err) // who sends ends, too
	if err != nil {
		return err
	}
	return to.host.Run(ctx, to.agent(do.Sweepd, "files", "--root", do.Root, "--verify", revision))
}

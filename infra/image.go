package infra

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/projects"
)

// image makes an image available on a host.
func (a *applier) image(ctx context.Context, m *connectedHost, what plan.Action) error {
	switch do := what.(type) {
	case plan.Image:
		return a.get(ctx, m, do)
	case plan.Ship:
		_, err := a.ship(ctx, a.connected[do.From].engine, m, do.Ref)
		return err
	case plan.Build:
		return a.build(ctx, m, do)
	case plan.Base:
		files, err := base(do)
		if err != nil {
			return err
		}
		a.onFailure(m, "remove the image "+do.Ref, func(ctx context.Context) error {
			return gone(m.engine.RemoveImage(ctx, do.Ref))
		})
		ctx, cancel := withoutCancel(ctx)
		defer cancel()
		return m.engine.ImportImage(ctx, files, docker.ImageConfig{Labels: do.Labels,
			Arch: m.found.Arch}, do.Ref)
	}
	return fmt.Errorf("no step is a %T", what)
}

// get has a host get an image: from its registry or, where that fails, from this machine or
// another host of the cluster.
func (a *applier) get(ctx context.Context, m *connectedHost, do plan.Image) error {
	pulled := a.pull(ctx, m, do)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if pulled != nil {
		err := a.send(ctx, m, do)
		if _, is := errors.AsType[*unfit](err); is {
			return err // it could be sent
		}
		if err != nil {
			option := "--image (image: in tasks.yml or cluster.yml)"
			if do.Ref == a.request.BrokerImage {
				option = "--broker-image (broker-image: in cluster.yml)"
			}
			from, anew := do.Ref, ""
			if digest := a.pinned(do.Ref).Digest; digest != "" {
				from, anew = docker.AtDigest(do.Ref, digest),
					"or take what the registry has now for all hosts with --pull, "
			}
			return fmt.Errorf("%w\n    and it cannot be sent from here: %w\n    let the host "+
				"reach the registry, or `docker pull %s` here, %sor name another with %s",
				pulled, err, from, anew, option)
		}
	}
	i, err := m.engine.FindImage(ctx, do.Ref)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	pin := a.images[do.Ref]
	pin.Ref = do.Ref
	a.images[do.Ref] = plan.WithImage(pin, i, do.Arch)
	return nil
}

// pull gets an image from its registry: the one that is pinned or, where none is, the one that the
// registry has now.
func (a *applier) pull(ctx context.Context, m *connectedHost, do plan.Image) error {
	pin, from := a.pinned(do.Ref), do.Ref
	switch {
	case pin.Digest != "":
		from = docker.AtDigest(do.Ref, pin.Digest)
	case pin.Name(do.Arch) != "":
		return fmt.Errorf("the cluster's %s (%s) came from no registry",
			do.Ref, layout.ShortDigest(pin.Name(do.Arch)))
	}
	err := m.engine.PullImage(ctx, from, a.says(m, "pulls "+do.Ref))
	if err == nil && docker.DigestOf(do.Ref) == "" && from != do.Ref {
		err = m.engine.TagImage(ctx, from, do.Ref)
	}
	return err
}

// send sends an image from this machine or from another host of the cluster, if one of them has it.
func (a *applier) send(ctx context.Context, m *connectedHost, do plan.Image) error {
	here, wrong := a.here(ctx)
	if wrong == nil {
		var sent bool
		if sent, wrong = a.sendFrom(ctx, here, "this machine", m, do); sent {
			return wrong
		}
	}
	for _, name := range a.reached() {
		if from := a.connected[name]; from != m && from.engine != nil &&
			a.pinned(do.Ref).Name(do.Arch) != "" {
			if sent, err := a.sendFrom(ctx, from.engine, name, m, do); sent {
				return err
			}
		}
	}
	return wrong
}

// sendFrom sends an image if it is the right one; else the error says why it is not sent.
func (a *applier) sendFrom(
	ctx context.Context, from *docker.Engine, where string, m *connectedHost, do plan.Image,
) (sent bool, err error) {
	pin, ref := a.pinned(do.Ref), do.Ref
	i, err := from.FindImage(ctx, ref)
	// it may be there without the name
	if pin.Digest != "" && (err != nil || !plan.Pins(pin, i, do.Arch)) {
		if other, wrong := from.FindImage(ctx, docker.AtDigest(ref, pin.Digest)); wrong == nil {
			i, err, ref = other, nil, docker.AtDigest(ref, pin.Digest)
		}
	}
	switch {
	case docker.KindOf(err) == docker.NotFound:
		return false, fmt.Errorf("%s does not have it either", where)
	case err != nil:
		return false, err
	case i.Arch != do.Arch:
		return false, fmt.Errorf("%s has it for %s, and the host is %s", where, i.Arch, do.Arch)
	case !plan.Pins(pin, i, do.Arch):
		return false, fmt.Errorf("%s has another under that name, %s, and the cluster's is %s",
			where, short(i, do.Ref), layout.ShortDigest(pin.Name(do.Arch)))
	}
	if do.Ref == a.request.BrokerImage && m.name == a.request.Master {
		if err := a.checkBroker(ctx, from, m, ref); err != nil {
			return true, err
		}
	}
	loaded, err := a.ship(ctx, from, m, ref)
	if err == nil && ref != do.Ref && len(loaded) > 0 {
		err = m.engine.TagImage(ctx, loaded[0], do.Ref)
	}
	return true, err
}

// short names an image for people.
func short(i docker.Image, ref string) string {
	return layout.ShortDigest(cmp.Or(i.Digest(ref), i.ID))
}

// pinned is for which image a reference stands, as far as it is known by now.
func (a *applier) pinned(ref string) layout.RecordImage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.images[ref]
}

// confirmImage makes sure that a host has the image for which a reference stands, and returns what
// sweeps call it: "python:3.12-slim@sha256:...", with the digest that check-status shows.
func (a *applier) confirmImage(ctx context.Context, m *connectedHost, ref string) (string, error) {
	i, err := m.engine.FindImage(ctx, ref)
	if err != nil {
		return "", err
	}
	pin, arch := a.pinned(ref), m.found.Arch
	switch {
	case !plan.Pins(pin, i, arch):
		return "", fmt.Errorf("%s is %s there, and %s is what the cluster's other hosts run under "+
			"that name\n    infrainit -f --pull takes what the registry has now, on all hosts; "+
			"or name one by its digest (image: %s@sha256:...)",
			ref, short(i, ref), layout.ShortDigest(pin.Name(arch)), ref)
	case docker.DigestOf(ref) != "":
		return ref, nil
	}
	return ref + "@" + cmp.Or(pin.Name(arch), i.ID), nil
}

// withImages is a record with what was learned of its images.
func (a *applier) withImages(r layout.Record) layout.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Images = slices.Clone(r.Images)
	for ref, pin := range a.images {
		i := slices.IndexFunc(r.Images, func(o layout.RecordImage) bool { return o.Ref == ref })
		if i < 0 {
			r.Images = append(r.Images, pin)
		} else {
			r.Images[i] = pin
		}
	}
	slices.SortFunc(r.Images, func(a, b layout.RecordImage) int {
		return cmp.Compare(a.Ref, b.Ref)
	})
	return r
}

// ship sends an image from one host to another, through here, and returns what it is called there:
// an id where ref has no tag. At most two are sent at once.
func (a *applier) ship(ctx context.Context, from *docker.Engine, to *connectedHost, ref string) (
	loaded []string, err error) {
	select {
	case a.shipping <- struct{}{}:
		defer func() { <-a.shipping }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	image, err := from.SaveImage(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer image.Close()
	return to.engine.LoadImage(ctx, image, a.says(to, "gets "+ref))
}

// says tells the user how far a transfer is.
func (a *applier) says(m *connectedHost, what string) docker.Report {
	return func(p docker.Progress) {
		text := what
		switch {
		case p.Total > 0:
			text += fmt.Sprintf(": %s %d %%", p.Status, 100*p.Done/p.Total)
		case p.Done > 0:
			text += fmt.Sprintf(": %s %d MB", p.Status, p.Done>>20)
		case p.Status != "":
			text += ": " + p.Status
		}
		a.o.Report.Says(m.name, strings.TrimSpace(text))
	}
}

// build builds the image of the project's own Dockerfile. Its context is a folder of the project as
// it was scanned.
func (a *applier) build(ctx context.Context, m *connectedHost, do plan.Build) error {
	reader, writer := io.Pipe()
	go func() {
		writer.CloseWithError(contextTar(writer, a.request.Files, path.Clean(do.Folder)))
	}()
	defer reader.Close()
	stop := context.AfterFunc(ctx, func() { reader.CloseWithError(context.Cause(ctx)) })
	defer stop()
	return m.engine.BuildImage(ctx, reader, docker.Build{Tag: do.Ref, Labels: do.Labels},
		a.says(m, "builds"))
}

// contextTar writes the files of a project below a folder.
func contextTar(to io.Writer, m *projects.Manifest, folder string) error {
	w := tar.NewWriter(to)
	for _, e := range m.Entries {
		name, inside := e.Path, true
		if folder != "." {
			name, inside = strings.CutPrefix(e.Path, folder+"/")
		}
		if !inside {
			continue
		}
		if err := writeEntry(w, m, e, name); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeEntry(w *tar.Writer, m *projects.Manifest, e projects.Entry, name string) error {
	h := tar.Header{Name: name, Mode: int64(e.Mode.Perm()), ModTime: e.ModTime}
	switch e.Kind {
	case projects.Dir:
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case projects.Symlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.Link
	default:
		h.Typeflag, h.Size = tar.TypeReg, e.Size
	}
	if err := w.WriteHeader(&h); err != nil || h.Typeflag != tar.TypeReg {
		return err
	}
	f, err := m.Open(e)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(w, f, e.Size)
	return err
}

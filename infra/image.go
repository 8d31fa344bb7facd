package infra

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"mlframework/infra/docker"
	"mlframework/infra/engine"
	"mlframework/infra/filesync"
	"mlframework/infra/plan"
	"mlframework/projects"
)

// image makes an image available on a host.
func (a *applier) image(ctx context.Context, m *machine, what plan.Action) error {
	switch do := what.(type) {
	case plan.Image:
		return a.get(ctx, m, do)
	case plan.Ship:
		return a.ship(ctx, a.machines[do.From].engine, m, do.Ref)
	case plan.Build:
		return a.build(ctx, m, do)
	case plan.Base:
		files, err := base(do)
		if err != nil {
			return err
		}
		a.undoes(m, "remove the image "+do.Ref, func(ctx context.Context) error { return gone(m.engine.RemoveImage(ctx, do.Ref)) })
		ctx, cancel := withoutCancel(ctx)
		defer cancel()
		return m.engine.ImportImage(ctx, files, docker.ImageConfig{Labels: do.Labels, Arch: m.found.Arch}, do.Ref)
	}
	return fmt.Errorf("no step is a %T", what)
}

// get has the host pull an image from its registry; where that fails and this machine has it, it is sent from here.
func (a *applier) get(ctx context.Context, m *machine, do plan.Image) error {
	pulled := m.engine.PullImage(ctx, do.Ref, a.says(m, "pulls "+do.Ref))
	if pulled == nil || ctx.Err() != nil {
		return pulled
	}
	here, err := a.here(ctx)
	if err == nil {
		i, found := here.FindImage(ctx, do.Ref)
		switch {
		case found == nil && i.Arch == do.Arch:
			return a.ship(ctx, here, m, do.Ref)
		case found == nil:
			err = fmt.Errorf("this machine has it for %s, and the host is %s", i.Arch, do.Arch)
		default:
			err = errors.New("this machine does not have it either")
		}
	}
	option := "--image (image: in tasks.yml or config.yml)"
	if do.Ref == a.request.BrokerImage {
		option = "--broker-image (broker-image: in config.yml)"
	}
	return fmt.Errorf("%w\n    and it cannot be sent from here: %w\n    let the host reach the "+
		"registry, or `docker pull %s` here, or name another with %s", pulled, err, do.Ref, option)
}

// here is this machine's Docker.
func (a *applier) here(ctx context.Context) (*docker.Engine, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.local != nil {
		return a.local, nil
	}
	local, err := docker.Open(ctx, docker.Host{Name: "this machine", Dial: new(engine.Dialer).Dial})
	if err == nil {
		a.local = local
	}
	return local, err
}

// ship sends an image from one host to another, through here. At most two are sent at once.
func (a *applier) ship(ctx context.Context, from *docker.Engine, to *machine, ref string) error {
	select {
	case a.shipping <- struct{}{}:
		defer func() { <-a.shipping }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	image, err := from.SaveImage(ctx, ref)
	if err != nil {
		return err
	}
	defer image.Close()
	_, err = to.engine.LoadImage(ctx, image, a.says(to, "gets "+ref))
	return err
}

// says tells the user how far a transfer is.
func (a *applier) says(m *machine, what string) docker.Report {
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

// build builds the image of the project's own Dockerfile. Its context is a folder of the project as it was scanned.
func (a *applier) build(ctx context.Context, m *machine, do plan.Build) error {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(contextTar(writer, a.request.Files, path.Clean(do.Folder))) }()
	defer reader.Close()
	stop := context.AfterFunc(ctx, func() { reader.CloseWithError(context.Cause(ctx)) })
	defer stop()
	return m.engine.BuildImage(ctx, reader, docker.Build{Tag: do.Ref, Labels: do.Labels}, a.says(m, "builds"))
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

// files brings the project's files to a host and puts them in force.
func (a *applier) files(ctx context.Context, m *machine) error {
	client, err := a.client(ctx, m)
	if err != nil {
		return err
	}
	_, err = client.Push(ctx, a.request.Files, filesync.PushOptions{Large: a.request.Large})
	return err
}

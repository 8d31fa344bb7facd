package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/docker"
)

func TestAnImportedImageSaysWhatItWasToSay(t *testing.T) {
	t.Parallel()
	ctx, e, ref := bounded(t), engine(t), mark+":config"
	odd := `a "quoted" $HOME \ 'x' = y`
	config := docker.ImageConfig{
		Entrypoint: []string{"/probe"}, Command: []string{"env"}, Dir: "/data", User: "1234:1235",
		Volumes: []string{"/data"},
		Env:     map[string]string{"COLOUR": odd},
		Labels:  map[string]string{markLabel: mark, "odd": odd},
	}
	if err := e.ImportImage(ctx, rootfs(t, ref), config, ref); err != nil {
		t.Fatal(err)
	}
	i, err := e.FindImage(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	if i.Labels["odd"] != odd || i.Arch == "" || !cmp.Equal(i.Tags, []string{ref}) {
		t.Errorf("the image is %+v", i)
	}
	s := docker.Spec{Name: name(), Image: ref, Labels: labels(), Hostname: "one"}
	if _, out := output(t, s); out != "one /data 1234 1235 "+odd+"\n" {
		t.Errorf("seen inside: %q", out)
	}
}

func TestAVolumeBeginsAsTheFolderOfTheImage(t *testing.T) {
	t.Parallel()
	ctx, e, volume := bounded(t), engine(t), docker.Volume{Name: name(), Labels: labels()}
	if err := e.CreateVolume(ctx, volume); err != nil {
		t.Fatal(err)
	}
	with := func(args ...string) string {
		s := spec(t, args...)
		s.User, s.ReadOnly, s.DropCaps = "1234:1235", true, []string{"ALL"}
		s.Mounts = []docker.Mount{{At: "/data", Volume: volume.Name}}
		_, out := output(t, s)
		remove(t, s.Name)
		return out
	}
	if out := with("owner", "/data"); out != "1234:1235 750\n" {
		t.Errorf("the volume is %q", out)
	}
	if out := with("owner", "/data/first"); out != "1234:1235 640\n" {
		t.Errorf("its file is %q", out)
	}
	if out := with("write", "/data/more"); out != "" {
		t.Errorf("its owner cannot write: %s", out)
	}
	if out := with("owner", "/data/more"); out != "1234:1235 600\n" {
		t.Errorf("the next container sees %q", out)
	}
}

func TestSaveLoadTagRemove(t *testing.T) {
	t.Parallel()
	ctx, e, own := bounded(t), engine(t), name()
	ref, tag := own+":saved", own+"-more:tag"
	config := docker.ImageConfig{Labels: map[string]string{markLabel: mark, "what": own}}
	if err := e.ImportImage(ctx, rootfs(t, ref), config, ref); err != nil {
		t.Fatal(err)
	}
	if err := e.TagImage(ctx, ref, tag); err != nil {
		t.Fatal(err)
	}
	if i, err := e.FindImage(ctx, ref); err != nil || !cmp.Equal(i.Tags, []string{tag, ref}) {
		t.Errorf("tagged, it is %+v, %v", i, err)
	}
	before, err := e.FindImage(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := e.SaveImage(ctx, tag)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(saved)
	if err := errors.Join(err, saved.Close()); err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{ref, tag} {
		if err := e.RemoveImage(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	_, err = e.FindImage(ctx, tag)
	want(t, err, docker.NotFound, tag)

	var sent int64
	refs, err := e.LoadImage(ctx, bytes.NewReader(text), func(p docker.Progress) {
		if p.Status == "sent" {
			sent = p.Done
		}
	})
	if err != nil || !cmp.Equal(refs, []string{tag}) || sent != int64(len(text)) {
		t.Errorf("loaded are %q, %v; reported as sent %d of %d bytes", refs, err, sent, len(text))
	}
	if i, err := e.FindImage(ctx, tag); err != nil || i.ID != before.ID {
		t.Errorf("loaded is %+v, %v, and saved was %s", i, err, before.ID)
	}
	other := docker.ImageConfig{Labels: config.Labels, Env: map[string]string{"MORE": "1"}}
	if err := e.ImportImage(ctx, rootfs(t, ref), other, own+":other"); err != nil {
		t.Fatal(err)
	}
	if i, err := e.FindImage(ctx, own+":other"); err != nil || i.ID == before.ID {
		t.Errorf("another image is %+v, %v", i, err)
	}
	if err := e.RemoveImage(ctx, own+":other"); err != nil {
		t.Fatal(err)
	}
	all, err := e.ListImages(ctx, map[string]string{markLabel: mark, "what": own})
	if err != nil || len(all) != 1 || all[0].Labels["what"] != own {
		t.Errorf("listed are %+v, %v", all, err)
	}
}

func TestTransfersThatBreak(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	broken := errors.New("the laptop's disk is gone")
	_, err := e.LoadImage(ctx, iotest.ErrReader(broken), nil)
	want(t, err, docker.Other, broken.Error(), "load an image on here")
	want(t, e.ImportImage(ctx, io.MultiReader(rootfs(t, "broken"), iotest.ErrReader(broken)),
		docker.ImageConfig{}, mark+":broken"), docker.Other, broken.Error())
	_, err = e.LoadImage(ctx, strings.NewReader("no tar at all, and more than a block of it "+
		strings.Repeat("x", 600)), nil)
	want(t, err, docker.Other)
	_, err = e.SaveImage(ctx, mark+":missing")
	want(t, err, docker.NotFound, "missing")

	// A reader that is asked no more once the call is over.
	ctx, cancel := context.WithCancel(ctx)
	var reads atomic.Int64
	var over atomic.Bool
	_, err = e.LoadImage(ctx, io.MultiReader(endless(t), readerFunc(func(p []byte) (int, error) {
		if over.Load() {
			t.Error("the stream is read after the call")
		}
		if reads.Add(1) == 20 {
			cancel()
		}
		return len(p), nil
	})), nil)
	over.Store(true)
	want(t, err, docker.Cancelled)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// endless begins a tar with a file that is larger than any disk.
func endless(t *testing.T) io.Reader {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: "layer", Mode: 0o600, Size: 1 << 50,
		Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestBuild(t *testing.T) {
	t.Parallel()
	ctx, e, own := bounded(t), engine(t), name() // so that nothing of it was built before
	b := docker.Build{Tag: own + ":built", Args: map[string]string{"WHO": own}, Labels: labels()}
	file := "FROM " + image(t) + "\nARG WHO\nENV COLOUR=$WHO\nRUN [\"/probe\", \"print\", " +
		"\"3\"]\nCMD [\"env\"]\n"
	var said []string
	if err := e.BuildImage(ctx, folder(t, file), b, func(p docker.Progress) {
		said = append(said, p.Status)
	}); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "\nline 2\n") ||
		!strings.Contains(all, "Successfully tagged "+b.Tag) {
		t.Errorf("the build said:\n%s", all)
	}
	if _, out := output(t, docker.Spec{Name: name(), Image: b.Tag,
		Labels: labels()}); !strings.HasSuffix(out, " "+own+"\n") {
		t.Errorf("seen inside: %q", out)
	}
	file = "FROM " + image(t) + "\nRUN [\"/probe\", \"exit\", \"7\"]\n"
	want(t, e.BuildImage(ctx, folder(t, file), b, nil), docker.Other, "build image "+b.Tag, "7")
}

// folder is a tar with a Dockerfile.
func folder(t *testing.T, dockerfile string) io.Reader {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(dockerfile)),
		Typeflag: tar.TypeReg})
	if err == nil {
		_, err = io.WriteString(w, dockerfile)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return &out
}

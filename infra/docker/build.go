package docker

import (
	"context"
	"io"

	"github.com/docker/docker/api/types/build"
)

// Build says how an image is built. Tag is needed.
type Build struct {
	Tag        string
	Dockerfile string // its path within the context; "": Dockerfile
	Args       map[string]string
	Labels     map[string]string
	Pull       bool // look for a newer base in its registry
}

// BuildImage builds an image from a tar of its context, with the classic builder, the only one that
// is sure to be there. Every line of it is reported. A step that fails is a Fault with the step's
// exit code. Reading tar has to end when ctx does.
func (e *Engine) BuildImage(ctx context.Context, tar io.Reader, b Build, report Report) error {
	op := "build image " + b.Tag
	if b.Tag == "" {
		return e.fail(op, errEmptyRef)
	}
	report = report.one()
	body := send(tar, report)
	return e.fail(op, body.end(e.build(ctx, body.body, b, report)))
}

func (e *Engine) build(ctx context.Context, tar io.Reader, b Build, report Report) error {
	args := map[string]*string{}
	for name, value := range b.Args {
		args[name] = &value
	}
	answer, err := e.api.ImageBuild(ctx, tar, build.ImageBuildOptions{
		Tags: []string{b.Tag}, Dockerfile: b.Dockerfile, BuildArgs: args, Labels: b.Labels,
		PullParent: b.Pull,
		Remove:     true, ForceRemove: true, Version: build.BuilderV1,
	})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return messages(answer.Body, report, nil)
}

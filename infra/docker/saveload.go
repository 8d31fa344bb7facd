package docker

import (
	"context"
	"io"
	"strings"

	"github.com/docker/docker/client"
)

// SaveImage gives an image as a tar stream, for LoadImage on another host. The caller closes it;
// what has gone wrong on the way is the error of a Read. With a tag in ref the image keeps that
// name over there.
func (e *Engine) SaveImage(ctx context.Context, ref string) (io.ReadCloser, error) {
	op := "save image " + ref
	if ref == "" {
		return nil, e.fail(op, errEmptyRef)
	}
	body, err := e.api.ImageSave(ctx, []string{ref})
	if err != nil {
		return nil, e.fail(op, err)
	}
	return body, nil
}

// LoadImage takes in what SaveImage gave and gives the names that were loaded, or ids where they
// have none. It reports the bytes sent ("sent"), of which a tar has about Image.Size, and then what
// the engine says. Reading tar has to end when ctx does.
func (e *Engine) LoadImage(ctx context.Context, tar io.Reader, report Report) (refs []string,
	err error) {
	report = report.one()
	body := send(tar, report)
	refs, err = e.load(ctx, body.body, report)
	return refs, e.fail("load an image", body.end(err))
}

func (e *Engine) load(ctx context.Context, tar io.Reader, report Report) (refs []string,
	err error) {
	answer, err := e.api.ImageLoad(ctx, tar, client.ImageLoadWithQuiet(false))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	err = messages(answer.Body, report, func(m message) {
		for _, before := range []string{"Loaded image: ", "Loaded image ID: "} {
			if ref, ok := strings.CutPrefix(strings.TrimSpace(m.Stream), before); ok {
				refs = append(refs, ref)
			}
		}
	})
	return refs, err
}

package server

import (
	"bytes"
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// writers is how many small files are written at once, and smallContent is the size in bytes up to
// which a content waits in memory for one of them. Larger ones go to the disk as they come, and go
// on there after a push that was cut off.
const (
	writers      = 4
	smallContent = 1 << 20
)

// receive receives contents in the order in which they were asked for.
func (p *push) receive(ctx context.Context, a *projects.Assembly, wanted []projects.Entry,
	missing []filesync.Missing) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	err := func() error {
		for i, e := range wanted {
			received := missing[i].Received
			if e.Size > smallContent {
				if err := a.Resume(ctx, e.Hash, received, cutShort{p.body}); err != nil {
					return err
				}
				continue
			}
			content := make([]byte, e.Size)
			if _, err := io.ReadFull(p.body, content); err != nil {
				return err
			}
			group.Go(func() error { return a.Put(ctx, e.Hash, bytes.NewReader(content)) })
			if ctx.Err() != nil {
				return nil // the error of one that was put
			}
		}
		return nil
	}()
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}

// cutShort is a body whose end, in the middle of a content, is an error.
type cutShort struct{ io.Reader }

func (c cutShort) Read(to []byte) (int, error) {
	n, err := c.Reader.Read(to)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

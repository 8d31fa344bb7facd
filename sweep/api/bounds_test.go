package api_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/table"
)

// An answer without end is refused where it is longer than any of a master.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begins string
		ask    func(context.Context, *api.Client) error
		says   string
	}{
		"an object": {`{"program":"`, func(ctx context.Context, c *api.Client) error {
			_, err := c.Health(ctx)
			return err
		}, "longer than 16 MiB"},
		"nothing": {``, func(ctx context.Context, c *api.Client) error {
			return c.Forget(ctx, "gpu1")
		}, "longer than 16 MiB"},
		"a list": {`{"sweeps":[` + "\n", func(ctx context.Context, c *api.Client) error {
			_, err := c.Sweeps(ctx, "", 0)
			return err
		}, "longer than 256 MiB"},
		"a row": {`{"task":"`, func(ctx context.Context, c *api.Client) error {
			return c.Rows(ctx, "train-1", api.Query{}, func(*table.Row) error { return nil })
		}, "longer than 16 MiB"},
		"an event": {`data: {"`, func(ctx context.Context, c *api.Client) error {
			o := api.FollowOptions{OnDisconnect: func(error) bool { return false }}
			return c.Follow(ctx, "train-1", o, func(api.Update) error { return nil })
		}, "longer than 256 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			listener := newPipes()
			text := strings.Repeat(" ", 1<<20)
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request) {
				_, err := io.WriteString(w, c.begins)
				for range 512 {
					if err == nil {
						_, err = io.WriteString(w, text)
					}
				}
			})}
			go func() { _ = server.Serve(listener) }()
			defer server.Close()
			client := api.DialBy("pipe", listener.dial)
			defer client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if err := c.ask(ctx, client); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// Who takes an update for minutes, such as a terminal that is scrolled, is not taken for a master
// that is silent.
func TestFollowWithASlowCallback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		follows := 0
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			if r.URL.Path == api.Root+"/health" {
				return
			}
			follows++
			for _, state := range []core.State{core.Open, core.Open, core.Finished} {
				u := api.Update{Sweep: core.Summary{ID: "train-1", State: state}}
				data, err := json.Marshal(api.Event{Update: u})
				if err != nil {
					t.Error(err)
				}
				fmt.Fprintf(w, "data: %s\n\n", data)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
			}
			<-r.Context().Done()
		})}
		go func() { _ = server.Serve(listener) }()
		defer server.Close()
		c := api.DialBy("pipe", listener.dial)
		defer c.Close()
		var told []core.State
		err := c.Follow(t.Context(), "train-1", api.FollowOptions{}, func(u api.Update) error {
			told = append(told, u.Sweep.State)
			time.Sleep(10 * api.KeepAlive)
			return nil
		})
		if err != nil || follows != 1 || len(told) != 3 {
			t.Errorf("%v, over %d connections: %v", err, follows, told)
		}
	})
}

package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/layout"
)

// TestNames holds what every release has to find where earlier ones put it: a name that changes
// here is lost on the hosts of every cluster.
func TestNames(t *testing.T) {
	t.Parallel()
	const wanted = `/home/anna/ml/.c.lock
/home/anna/ml/c/.mlframework-root
/home/anna/ml/c/bin/0123/sweepd
/home/anna/ml/c/releases
/home/anna/ml/c/manifests
/home/anna/ml/c/current
/home/anna/ml/c/lock
/home/anna/ml/c/cluster.json
/home/anna/ml/c/authority
/home/anna/ml/c/authority/secrets.json
/home/anna/ml/c/broker
/home/anna/ml/c/master
/home/anna/ml/c/monitor
/home/anna/ml/c/certificate
/home/anna/ml/c/run
/home/anna/ml/c/read
/home/anna/ml/c/hosts/gpu1/outputs
/home/anna/ml/c/hosts/gpu1/state
/home/anna/ml/c/hosts/gpu1/home
/home/anna/ml/c/hosts/gpu1/secrets
hosts/gpu1/outputs
mlframework/sweepd-
`
	r := layout.Root("/home/anna/ml/c")
	var b strings.Builder
	for _, name := range []any{
		r.Lock(), r + "/" + layout.MarkerFile, r.Sweepd("0123"), r.Releases(),
		r + "/" + layout.Manifests, r + "/" + layout.Current, r + "/" + layout.FilesLock,
		r.Record(), r.Authority(), r.Secrets(), r.Broker(), r.Master(), r.Monitor(),
		r.Certificate(), r.Run(), r.Read(),
		r.Outputs("gpu1"), r.State("gpu1"), r.Home("gpu1"), r.Login("gpu1"),
		layout.HostOutputs("gpu1"),
		layout.Cache + "/" + layout.CachedPrefix,
	} {
		fmt.Fprintln(&b, name)
	}
	if diff := cmp.Diff(wanted, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	const text = `{"version":1,"owner":"anna \"b\"","cluster":"c"}` + "\n"
	m := layout.NewMarker(`anna "b"`, "c")
	if got := string(m.Encode()); got != text {
		t.Error(got)
	}
	if again, err := layout.ParseMarker([]byte(text)); err != nil || again != m {
		t.Errorf("%+v, %v", again, err)
	}
	dated, err := layout.ParseMarker(
		[]byte(`{"version":1,"owner":"a","cluster":"c","since":"2026-01-02T03:04:05Z","x":1}`))
	if err != nil || dated.Since.Year() != 2026 {
		t.Errorf("%+v, %v", dated, err)
	}
	for _, wrong := range []string{"", "{", `{"version":2,"owner":"a"}`, `{"version":1}`, `[]`} {
		if m, err := layout.ParseMarker([]byte(wrong)); err == nil {
			t.Errorf("%q is %+v", wrong, m)
		}
	}
}

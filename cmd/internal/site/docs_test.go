package site_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/infra/layout"
	"mlframework/nvdocker"
)

// The page about check-status --json has a row for every field, and for no other.
func TestOverviewPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/check-status.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, fields := map[string]bool{}, map[string]bool{}
	for row := range strings.Lines(string(data)) {
		if cells := strings.Split(row, "|"); len(cells) > 2 && strings.HasPrefix(cells[1], " `") {
			for name := range strings.SplitSeq(cells[1], ",") {
				shown[strings.Trim(name, " `")] = true
			}
		}
	}
	for _, of := range []any{site.Overview{}, infra.HostStatus{}, infra.ContainerStatus{},
		infra.OtherWorker{}, layout.RecordImage{},
		nvdocker.Report{}, nvdocker.GPU{}, nvdocker.Instance{}, nvdocker.Process{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() && name != "-" {
				fields[name] = true
			}
		}
	}
	if diff := cmp.Diff(fields, shown); diff != "" {
		t.Errorf("docs/check-status.md (-fields +rows):\n%s", diff)
	}
}

package listing_test

import (
	"os"
	"testing"

	"mlframework/internal/leaktest"
	"mlframework/sweep/table"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

func indexes(rows []table.Row) (all []int64) {
	for _, r := range rows {
		all = append(all, r.Index)
	}
	return all
}

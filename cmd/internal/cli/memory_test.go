package cli_test

import (
	"testing"

	"mlframework/cmd/internal/cli"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	const least = 14 << 20
	for live, want := range map[int64]int64{0: least, 1 << 20: least, 4 << 20: 24 << 20,
		40 << 20: 168 << 20} {
		if got := cli.MemoryLimit(least, live); got != want {
			t.Errorf("with %d MiB of live objects the limit is %d, want %d bytes", live>>20, got,
				want)
		}
	}
}

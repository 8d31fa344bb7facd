package site_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/cmd/internal/site"
)

// Where there is no terminal, what a step is at is told at once, and then now and then.
func TestWhatAStepIsAtInALog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	synctest.Test(t, func(t *testing.T) {
		log, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		p := site.NewPrinter(log)
		for n := range 100 {
			p.Says("gpu1", []string{"sent 0 MB", "sent 99 MB"}[n/99])
			time.Sleep(101 * time.Millisecond)
		}
		p.Says("gpu2", "waits for 1 task")
		p.Says("gpu1", "sent 100 MB")
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	})
	text, err := os.ReadFile(file)
	want := "gpu1      sent 0 MB\ngpu2      waits for 1 task\ngpu1      sent 100 MB\n"
	if string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
}

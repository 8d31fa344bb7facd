package nvdocker

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestParse reads outputs as drivers of 2016 to 2026 print them. Each file names its source in the
// first line.
func TestParse(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) < 20 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			output, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(Parse(output), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := strings.TrimSuffix(file, ".txt") + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("it reads\n%swant\n%s", got, want)
			}
		})
	}
}

// FuzzParse takes any text; whatever it reads can be handed out and shown.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		if output, err := os.ReadFile(file); err == nil {
			f.Add(output)
		}
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		r := Parse(output)
		if len(r.GPUs) > 3*mostGPUs {
			t.Fatalf("%d GPUs", len(r.GPUs))
		}
		for _, g := range r.GPUs {
			if g.UUID != "" && !isUUID(g.UUID, "GPU-") || g.Memory < Unknown || g.Used < Unknown ||
				g.Index < Unknown {
				t.Fatalf("%+v", g)
			}
			Health(g, Xids(string(output)))
			g.Busy()
		}
		for _, d := range Devices(r.GPUs) {
			text := strings.Join(Assignment{Devices: []Device{d}}.Environment(), " ")
			if strings.ContainsAny(text, "\x00\n$;`") {
				t.Fatalf("%q", text)
			}
		}
	})
}

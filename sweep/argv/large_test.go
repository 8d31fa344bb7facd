package argv_test

import (
	"strings"
	"testing"

	"mlframework/sweep/argv"
	"mlframework/sweep/task"
)

// large are files with a list of many numbers, by their names.
func large(size int) map[string]string {
	numbers := strings.Repeat("7, ", size/3) + "7"
	return map[string]string{
		"c.json": "{\"lr\": 0.1, \"x\": [\n" + numbers + "\n]}\n",
		"c.toml": "lr = 0.1\nx = [\n" + numbers + "\n]\n[t]\n",
		"c.yaml": "lr: 0.1\nx: [" + numbers + "]\n",
	}
}

// Time and memory grow with the size of a file, not with its square: a file of this size would take
// minutes.
func TestFillLarge(t *testing.T) {
	t.Parallel()
	for name, text := range large(1 << 20) {
		file := task.File{From: name, To: name, NewKeys: true}
		_, put, err := argv.Fill(file, []byte(text), given("lr=0.5 x.100000=8 t.new=1"), nil)
		if err != nil || len(put) != 3 {
			t.Errorf("%s: %v, %v", name, put, err)
		}
	}
}

// TestFillDeep: TOML that is nested so deeply that writing it would take gigabytes is refused.
func TestFillDeep(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a key":         strings.Repeat("a.", 20_000) + "b = 1\n",
		"a table":       "[" + strings.Repeat("a.", 101) + "b]\n",
		"inline tables": "x = " + strings.Repeat("{a=", 200) + "1" + strings.Repeat("}", 200) + "\n",
	} {
		file := task.File{From: "c.toml", To: "c.toml"}
		_, _, err := argv.Fill(file, []byte("lr = 1\n"+text), given("lr=0.5"), nil)
		if err == nil || !strings.Contains(err.Error(), "in more than 100 levels") {
			t.Errorf("%s: %.100v", name, err)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	for name, text := range large(64 << 10) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				file := task.File{From: name, To: name}
				if _, _, err := argv.Fill(file, []byte(text), given("lr=0.5"), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

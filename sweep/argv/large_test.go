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

package space_test

import (
	"testing"

	"mlframework/sweep/space"
)

// Two spaces of 10^12 points. In the first an interval too long to be made beforehand varies fastest, in the second the
// usual short list.
const (
	intervalLast = `
lr: [0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6]
augment: [true, false]
dropout: !!python/tuple [0, 1, 0.01]
batchsize: [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
epoch: !!python/tuple [5, 255, 5]
seed: !!python/tuple [0, 1000000]
`
	listLast = `
seed: !!python/tuple [0, 1000000]
epoch: !!python/tuple [5, 255, 5]
dropout: !!python/tuple [0, 1, 0.01]
augment: [true, false]
lr: [0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6]
batchsize: [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
`
)

var spaces = map[string]string{"interval-last": intervalLast, "list-last": listLast}

// BenchmarkArgv makes whole command lines, one point after the other.
func BenchmarkArgv(b *testing.B) {
	for name, file := range spaces {
		b.Run(name, func(b *testing.B) {
			s := read(b, file)
			flags, length := s.Flags(space.Style{}), 0
			b.ReportAllocs()
			b.ResetTimer()
			for _, argv := range flags.All([]string{"python3", "train.py"}, s.Len()/3, s.Len()/3+int64(b.N)) {
				length += len(argv)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "points/s")
			if length < 7*b.N {
				b.Errorf("%d arguments of %d points", length, b.N)
			}
		})
	}
}

// BenchmarkAppend makes command lines of points far from each other.
func BenchmarkAppend(b *testing.B) {
	s := read(b, intervalLast)
	flags := s.Flags(space.Style{})
	var argv []string
	b.ReportAllocs()
	for i := range int64(b.N) {
		argv = flags.Append(argv[:0], i*777_777_777%s.Len())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "points/s")
}

// BenchmarkOpenAndCount is from the text of the file to the number of its points.
func BenchmarkOpenAndCount(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if s := read(b, intervalLast); s.Len() != 1_000_000_000_000 {
			b.Fatal(s.Len())
		}
	}
}

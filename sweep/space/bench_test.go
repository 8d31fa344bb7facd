package space_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"mlframework/sweep/space"
)

// Two spaces of 10^12 points. In the first an interval too long to be made beforehand varies
// fastest, in the second the usual short list.
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
			argv := []string{"python3", "train.py"}
			for i := range int64(b.N) {
				argv = flags.Append(argv[:2], s.Len()/3+i)
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

// threeBlocks has three blocks of 10^5 combinations each, which alternate in the file.
const threeBlocks = `
a: !interval [0, 100]
b: !interval [0, 100]
c: !interval [0, 100]
d: !interval [0, 100]
e: !interval [0, 100]
f: !interval [0, 100]
g: !interval [0, 10]
h: !interval [0, 10]
i: !interval [0, 10]
---
where:
- a * d + g <= 3000
- b * e <= 3000 + h
- c + f > i
`

// BenchmarkOpenRules is from the text of a file with rules to the number of its points.
func BenchmarkOpenRules(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if s := read(b, threeBlocks); s.Len() < 1_000_000 {
			b.Fatal(s.Len())
		}
	}
}

// constrained has more than a million points that rules leave, with a parameter that some of them
// lack.
const constrained = `
lr: !log [1e-5, 1e-1, 50]
optimizer: [sgd, adam, rmsprop]
momentum: [0.9, 0.99]
batchsize: [8, 16, 32, 64, 128, 256, 512, 1024]
unit: !int [16, 512, 16]
dropout: !uniform [0, 0.5, 11]
seed: !interval [0, 10]
augment: [true, false]
---
where: batchsize * unit <= 100000
exclude: [{optimizer: sgd, augment: true}]
when: {momentum: optimizer == sgd}
`

// BenchmarkArgvRules makes command lines of points that rules leave, one after the other.
func BenchmarkArgvRules(b *testing.B) {
	s := read(b, constrained)
	flags, argv := s.Flags(space.Style{}), []string{"python3", "train.py"}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range int64(b.N) {
		argv = flags.Append(argv[:2], i%s.Len())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "points/s")
}

// BenchmarkPointRules finds points far from each other, and their numbers.
func BenchmarkPointRules(b *testing.B) {
	s := read(b, constrained)
	flags := s.Flags(space.Style{})
	b.Run("argv", func(b *testing.B) {
		var argv []string
		b.ReportAllocs()
		for i := range int64(b.N) {
			argv = flags.Append(argv[:0], i*777_777_777%s.Len())
		}
	})
	b.Run("index", func(b *testing.B) {
		for i := range int64(b.N) {
			if _, ok := s.Index(s.Point(i * 777_777_777 % s.Len())); !ok {
				b.Fatal(i)
			}
		}
	})
	b.Run("column", func(b *testing.B) {
		c, _ := s.Column("momentum")
		for i := range int64(b.N) {
			c.At(i * 777_777_777 % s.Len())
		}
	})
}

// BenchmarkSample draws the largest sample of 10^12 combinations.
func BenchmarkSample(b *testing.B) {
	for b.Loop() {
		if s := read(b, intervalLast+"---\nsample: 1000000\n"); s.Len() != 1_000_000 {
			b.Fatal(s.Len())
		}
	}
}

// BenchmarkStoredRules opens a stored space with rules that was opened before.
func BenchmarkStoredRules(b *testing.B) {
	stored, err := json.Marshal(read(b, threeBlocks))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var s space.Space
		if err := json.Unmarshal(stored, &s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWithout looks for each of a million points among those that a sweep has.
func BenchmarkWithout(b *testing.B) {
	var spaces []*space.Space
	for _, text := range []string{"a: [0, 1000000)\n---\nexclude: {a: 5}\n",
		"a: [0, 1000001)\n---\nexclude: {a: 5}\n"} {
		s, _, err := space.Read("p.yml", []byte(text))
		if err != nil {
			b.Fatal(err)
		}
		spaces = append(spaces, s)
	}
	for b.Loop() {
		if parts, err := spaces[1].Without(space.Style{}, spaces[0]); err != nil ||
			len(parts) != 1 || parts[0].Len() != 1 {
			b.Fatal(parts, err)
		}
	}
}

// BenchmarkWithoutConditional looks up a million points where a parameter has a condition.
func BenchmarkWithoutConditional(b *testing.B) {
	const file = "o: [adam, sgd]\ne: !interval [0, %d]\n---\nwhen: {e: o == sgd}\n"
	before, now := read(b, fmt.Sprintf(file, 900_000)), read(b, fmt.Sprintf(file, 999_999))
	for b.Loop() {
		if parts, err := now.Without(space.Style{}, before); err != nil ||
			parts[0].Len() != 99_999 {
			b.Fatal(parts, err)
		}
	}
}

package metric_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
)

// FuzzScanner: however output is cut into chunks, the samples are those of its lines looked at one
// by one.
func FuzzScanner(f *testing.F) {
	f.Add([]byte(
		"validation accuracy: 0.5\r\nloss 3\rloss nan\n\n{\"metrics\": {\"a\": NaN}, \"step\": 2}"),
		[]byte{1, 7})
	f.Add([]byte("\x1b[32mloss 1\x1b[0m\n\x1b]8;;\x07loss 2\x1b"), []byte{3})
	f.Add([]byte("{\"metrics\": {\"loss\": 1}} loss 4\r\r\n\r\xff\x00loss 5."), []byte{0, 200})
	all := []*metric.Rules{
		mustCompile(f, metric.Rule{Name: "loss", Pattern: `loss (\S+)`}, metric.Rule{Name: "acc",
			Pattern: `acc\w*: ([-+.\d]+)`}),
		mustCompile(f, metric.Rule{Name: "loss", Pattern: `(?i)loss (\S+)`},
			metric.Rule{Name: "end", Pattern: `(\S*)$`}),
		{},
	}
	f.Fuzz(func(t *testing.T, output, sizes []byte) {
		for _, rules := range all {
			want, rejected := scan(t, rules, string(output))
			var chunks []string
			rest := string(output)
			for i := 0; len(sizes) > 0 && rest != "" && i < 10_000; i++ {
				n := min(int(sizes[i%len(sizes)]), len(rest))
				chunks = append(chunks, rest[:n])
				rest = rest[n:]
			}
			got, rejectedInChunks := scan(t, rules, append(chunks, rest)...)
			if d := cmp.Diff(want, got, sameNaN); d != "" {
				t.Errorf("samples in chunks (-want +got):\n%s", d)
			}
			if d := cmp.Diff(rejected, rejectedInChunks); d != "" {
				t.Errorf("rejected in chunks (-want +got):\n%s", d)
			}
			if d := cmp.Diff(lineByLine(t, rules, output), want, sameNaN); d != "" {
				t.Errorf("line by line (-want +got):\n%s", d)
			}
		}
	})
}

func lineByLine(t *testing.T, rules *metric.Rules, output []byte) []metric.Sample {
	var out []metric.Sample
	for i, physical := range bytes.Split(output, []byte("\n")) {
		for _, line := range bytes.Split(physical, []byte("\r")) {
			found, _ := scan(t, rules, string(line))
			for _, s := range found {
				s.Line = int64(i + 1)
				out = append(out, s)
			}
		}
	}
	return out
}

func BenchmarkScanner(b *testing.B) {
	two := mustCompile(b, metric.Rule{Name: "accuracy",
		Pattern: `validation accuracy[ =:]+([-+0-9.eE]+)`},
		metric.Rule{Name: "loss", Pattern: `train loss[ =:]+([-+0-9.eE]+)`})
	fold := mustCompile(b, metric.Rule{Name: "accuracy",
		Pattern: `(?i)validation accuracy[ =:]+([-+0-9.eE]+)`})
	plain :=
		"2026-03-04 05:06:07 INFO step 1234/5000: reading batch of 128 examples, queue is 93% " +
			"full\n"
	for _, bb := range []struct {
		name, line string
		rules      *metric.Rules
	}{
		{"plain", plain, two},
		{"progress", "training  42% [=======>          ] 1234/5000, 17.2 batch/s\r", two},
		{"colours", "\x1b[32m" + plain[:len(plain)-1] + "\x1b[0m\n", two},
		{"matches", "epoch 3 train loss: 0.4321 validation accuracy: 0.9512\n", two},
		{"json", `{"metrics": {"loss": 0.4321, "accuracy": 0.9512}, "step": 1234}` + "\n", two},
		{"noliteral", plain, fold},
	} {
		b.Run(bb.name, func(b *testing.B) {
			chunk := bytes.Repeat([]byte(bb.line), 32<<10/len(bb.line))
			s := bb.rules.NewScanner(time.Now, func(metric.Sample) {})
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Write(chunk); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

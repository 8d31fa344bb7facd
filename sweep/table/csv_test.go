package table_test

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/table"
)

func TestWriteCSV(t *testing.T) {
	t.Parallel()
	rows := []table.Row{full(), {ID: "run_training/0"}}
	var out bytes.Buffer
	if err := table.WriteCSV(&out, rows, table.Schema{}.With(rows)); err != nil {
		t.Fatal(err)
	}
	want := `
id,sweep,definition,index,state,name,lr,loss,accuracy,argv,attempts,host,slot,gpus,started,duration,exit_code,reason,revision
run_training-7/42,run_training-7,run_training,42,failed,<a b>,1e-3,nan,0.1,python3 train.py '--name=<a b>' --lr=1e-3,2,gpu1,0,` +
		`GPU-5b3c2a1f-1111-2222,2026-03-04T05:06:07.500Z,61.25,1,exit code 1,0123456789abcdef
run_training/0,,,0,,,,,,,0,,,,,,,,
`
	if d := cmp.Diff(want[1:], out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCSVIsNoProgram(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "+cmd": "'+cmd", "-x": "'-x", "-": "'-",
		"-1": "-1", "+0.5": "+0.5",
		"-1e-3": "-1e-3", "-inf": "'-inf", "\t=1": `\t=1`, "\r=1": `\r=1`, "\uFF1D1": "'\uFF1D1",
		"a=1": "a=1", "": "",
		"\x1b[2J": `\x1b[2J`, "a,\"b\"": "a,\"b\"", "two\nlines": `two\nlines`,
		"a;=1": "a;'=1", "a;\"=1": "a;'\"=1", "a; b": "a; b", "a;b;c": "a;b;c",
		"-1;-2;3": "'-1;-2;3", "-15;": "'-15;", "1;-2": "1;'-2",
		"1;-2,5+X();y": "1;'-2,5+X();y", "a;\t=1": `a;\t=1`,
		";\uFF0B1": ";'\uFF0B1", "\"=1": "'\"=1",
	} {
		rows := []table.Row{{Parameters: table.Parameters{{Name: "=x", Value: in}}}}
		var out bytes.Buffer
		if err := table.WriteCSV(&out, rows, table.Schema{}.With(rows)); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if records[0][5] != "'=x" || records[1][5] != want {
			t.Errorf("%q is written as %q under %q, want %q", in, records[1][5], records[0][5],
				want)
		}
	}
}

func TestCSVWithoutRowsHasAHeader(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := table.WriteCSV(&out, nil, table.Schema{Metrics: []string{"accuracy"}}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "id,sweep,definition,index,state,accuracy,argv,") {
		t.Errorf("got %s", out.String())
	}
}

// However a spreadsheet splits what is written, at commas, semicolons or tabs, and whatever it
// makes of quotation marks, no cell is a formula.
func FuzzCSVIsNoProgram(f *testing.F) {
	for _, seed := range [][2]string{{"a;=HYPERLINK(1)", "b"}, {"a\t=1", "x"}, {`a;"=1`, `"=1"`},
		{"1;-5", "5+X();y"}, {"a,=1", "-1"}, {"=1", "=2"}, {"-15;", "2;y"},
		{";;+1", "\n=1"}, {`";`, "=1"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		rows := []table.Row{{ID: "x/0", Parameters: table.Parameters{{Name: "a", Value: a},
			{Name: "b", Value: b}}}}
		var out bytes.Buffer
		if err := table.WriteCSV(&out, rows, table.Schema{}.With(rows)); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(out.String()[strings.IndexByte(out.String(), '\n')+1:], "\n")
		if strings.ContainsAny(line, "\n\r\t") {
			t.Fatalf("%q and %q: a line or cell ends in %q", a, b, line)
		}
		records, err := csv.NewReader(strings.NewReader(line)).ReadAll()
		if err != nil {
			t.Fatalf("%q and %q: %v in %q", a, b, err, line)
		}
		// quotation marks without meaning
		cells := append(strings.Split(line, ";"), strings.Split(line, "\t")...)
		for i, cell := range cells {
			cells[i] = strings.TrimLeft(cell, `"`)
		}
		for _, cell := range append(cells, records[0]...) {
			first, _ := utf8.DecodeRuneInString(cell)
			if _, err := strconv.ParseFloat(cell, 64); err != nil &&
				strings.ContainsRune("=+-@\uFF1D\uFF0B\uFF0D\uFF20", first) {
				t.Errorf("%q and %q: the cell %q in %q", a, b, cell, line)
			}
		}
	})
}

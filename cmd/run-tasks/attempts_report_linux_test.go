package main_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func numbers(all []listed) []int {
	found := []int{}
	for _, l := range all {
		found = append(found, l.number)
	}
	return found
}

// question is about the attempts of a task.
type question struct {
	asks  func(args ...string) (stdout, stderr string, code int)
	id    string // of the task
	where string // a filter that only this task passes
}

// told is what one command reports of a task's attempts.
type told struct {
	count   int
	numbers []int // nil: they are not told
}

// agree holds every command that tells of a task's attempts to those that are to be listed.
func agree(t *testing.T, q question, want []listed) {
	t.Helper()
	for name, ask := range faces {
		got, err := ask(q)
		switch {
		case err != nil:
			t.Errorf("%s, %s: %v", q.id, name, err)
		case got.count != len(want):
			t.Errorf("%s, %s: %d attempts, want %d", q.id, name, got.count, len(want))
		case got.numbers != nil && !slices.Equal(got.numbers, numbers(want)):
			t.Errorf("%s, %s: lists %v, want %v", q.id, name, got.numbers, numbers(want))
		}
	}
}

// faces are the commands that tell how many attempts a task has.
var faces = map[string]func(question) (told, error){
	"show": func(q question) (told, error) {
		text, _, _ := q.asks("show", q.id)
		found := attemptLine.FindAllStringSubmatch(text, -1)
		all := told{len(found), []int{}}
		for _, f := range found {
			n, _ := strconv.Atoi(f[1]) // digits
			all.numbers = append(all.numbers, n)
		}
		return all, nil
	},
	"show --json": func(q question) (told, error) {
		text, _, _ := q.asks("show", "--json", q.id)
		var view struct {
			Task     struct{ Attempts int }
			Attempts []struct{ Attempt int }
		}
		err := json.Unmarshal([]byte(text), &view)
		all := told{view.Task.Attempts, []int{}}
		for _, a := range view.Attempts {
			all.numbers = append(all.numbers, a.Attempt)
		}
		return all, err
	},
	"results": func(q question) (told, error) {
		text, _, _ := q.asks("results", "--where", q.where)
		heads, rest, _ := strings.Cut(text, "\n")
		row, _, _ := strings.Cut(rest, "\n")
		at := strings.Index(heads, "attempts")
		if at < 0 || len(row) < at+len("attempts") {
			return told{}, fmt.Errorf("it has no column of attempts:\n%s", text)
		}
		n, err := strconv.Atoi(strings.TrimSpace(row[at : at+len("attempts")]))
		return told{n, nil}, err
	},
	"results --json": func(q question) (told, error) {
		text, _, _ := q.asks("results", "--json", "--where", q.where)
		var row struct{ Attempts int }
		err := json.Unmarshal([]byte(text), &row)
		return told{row.Attempts, nil}, err
	},
	"results --csv": func(q question) (told, error) {
		text, _, _ := q.asks("results", "--csv", "--where", q.where)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 2 {
			return told{}, fmt.Errorf("%q: %w", text, err)
		}
		n, err := strconv.Atoi(rows[1][slices.Index(rows[0], "attempts")])
		return told{n, nil}, err
	},
	"results --where": func(q question) (told, error) {
		for n := range 5 {
			if text, _, _ := q.asks("results", "--json", "--where",
				fmt.Sprintf("%s and attempts=%d", q.where, n)); text != "" {
				return told{n, nil}, nil
			}
		}
		return told{}, fmt.Errorf("no number of attempts fits")
	},
}

var attemptLine = regexp.MustCompile(`(?m)^attempt (\d+) `)

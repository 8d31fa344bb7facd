package failure

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// traceback is one of Python's among lines.
type traceback struct {
	begin, end int      // its first line, and the one behind its exception's message
	exception  string   // with the message's first line
	more       string   // the message's next line that says something
	frames     []string // lines of them, the innermost last
	place      string   // of the last: "train.py:42"
	source     string   // what stands there, if Python found it: "assert loss < 10"
	ignored    bool     // the program went on
}

// mostMessage is the maximum number of lines of an exception's message. Messages that contain an
// array, such as torch's, have dozens of lines.
const mostMessage = 200

const header = "Traceback (most recent call last):"

// lastTraceback finds the last traceback among lines. Its beginning may be missing.
func lastTraceback(lines []string) (t traceback, ok bool) {
	begins := func(line string) bool { return strings.HasSuffix(line, header) }
	if t.begin = lastOf(lines, begins); t.begin < 0 { // as of a syntax error
		t.begin = lastOf(lines, isFrame)
	}
	if t.begin < 0 {
		return t, false
	}
	at := t.begin
	for ; at < len(lines) && (at == t.begin || lines[at] == "" || lines[at][0] == ' '); at++ {
		switch {
		case isFrame(lines[at]):
			t.frames = append(t.frames, lines[at])
			t.place, t.source = placeOf(lines[at]), ""
		case t.source == "" && t.place != "" && strings.HasPrefix(lines[at], "    ") &&
			!isNoise(lines[at]):
			t.source = strings.TrimLeft(lines[at], " ")
		}
	}
	if at == len(lines) || !isException(lines[at]) {
		return t, false
	}
	t.exception = lines[at]
	most := at + mostMessage
	if isWrapper(t.exception) { // what it lists of its processes may be long
		most = len(lines)
	}
	for t.end = at + 1; t.end < min(most, len(lines)) && t.goesOn(lines) &&
		!isLogged(lines[t.end]); t.end++ {
		if t.more == "" && !isNoise(lines[t.end]) {
			t.more = strings.TrimLeft(lines[t.end], " ")
		}
	}
	t.ignored = t.begin > 0 && strings.HasPrefix(lines[t.begin-1], "Exception ignored ")
	return t, true
}

// goesOn reports whether the message continues in the line at its end so far. After a blank line it
// continues if it is still empty, if the following text is indented, or if that text reads neither
// as an error nor as a log. Other text may be later output of the program.
func (t traceback) goesOn(lines []string) bool {
	if lines[t.end] != "" {
		return true
	}
	next, last := t.end, min(len(lines), t.end+mostMessage)
	for next < last && lines[next] == "" {
		next++
	}
	silent := strings.HasSuffix(t.exception, ":") && t.more == ""
	return next < last && (silent || lines[next][0] == ' ' ||
		!slices.ContainsFunc(lines[next:last], func(line string) bool {
			return saysError(line) || isLogged(line)
		}))
}

// mostSource is how many characters of a line of source a reason has.
const mostSource = 100

// text is what the traceback says: the exception, with the next line where its first says nothing,
// or with the place and what stands there.
func (t traceback) text() string {
	name, message, _ := strings.Cut(t.exception, ":")
	switch {
	case message == "" && t.more != "" && !isWrapper(t.exception):
		return name + ": " + t.more
	case message == "" && t.place != "" && t.source != "" && !isWrapper(t.exception):
		return name + " (" + t.place + ": " + cutTo(t.source, mostSource) + ")"
	case message == "" && t.place != "":
		return name + " (" + t.place + ")"
	case strings.HasSuffix(t.exception, ":") && t.more != "":
		return t.exception + " " + t.more
	}
	return t.exception
}

func lastOf(lines []string, is func(string) bool) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if is(lines[i]) {
			return i
		}
	}
	return -1
}

// placeOf is "train.py:42" of a frame.
func placeOf(frame string) string {
	file, number := splitFrame(frame)
	return path.Base(file) + ":" + number
}

// splitFrame returns the file and the number of the line of a frame.
func splitFrame(frame string) (file, number string) {
	_, file, _ = strings.Cut(frame, `"`)
	file, rest, _ := strings.Cut(file, `", line `)
	number, _, _ = strings.Cut(rest, ",")
	return file, number
}

// isException reports whether a line begins as an exception is printed: its name, and a colon or
// nothing.
func isException(line string) bool {
	name, _, _ := strings.Cut(line, ":")
	for i, r := range name {
		letter := r == '_' || r == '<' || unicode.IsLetter(r)
		if !letter && (i == 0 || r != '.' && r != '>' && !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// isWrapper reports whether an exception says only that another program failed.
func isWrapper(exception string) bool {
	for _, name := range []string{"torch.distributed.elastic.multiprocessing.errors.ChildFailedError", "subprocess.CalledProcessError"} {
		if strings.HasPrefix(exception, name) {
			return true
		}
	}
	return false
}

// isLogged reports whether a line begins as those of logs do: with a time, or a level.
func isLogged(line string) bool {
	text := strings.TrimLeft(line, "[")
	for _, level := range []string{"INFO", "WARNING", "ERROR", "DEBUG", "CRITICAL"} {
		if strings.HasPrefix(text, level) {
			return true
		}
	}
	if len(text) < len("2026-01-02") {
		return false
	}
	for i, shape := range "0000-00-00" {
		if c := text[i]; shape == '0' && (c < '0' || c > '9') || shape == '-' && c != '-' &&
			c != '/' {
			return false
		}
	}
	return true
}

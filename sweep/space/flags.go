package space

import (
	"iter"
	"slices"
)

// Style is how assignments become command-line arguments. The zero value gives --key=value, and
// --key or nothing for a switch.
type Style struct {
	Space       bool `json:"space,omitempty"`        // --key value, as two arguments
	SwitchValue bool `json:"switch_value,omitempty"` // a switch is a value like any other: --key=true, --key=false (with Space: --key true)
	Form        Form `json:"form,omitempty"`         // instead of flags
}

// Form is what stands in a command line for a parameter. The zero value is a flag.
type Form string

// The forms beside flags.
const (
	// key=value, as Hydra and OmegaConf read it; a switch is a value like any other
	Hydra Form = "hydra"
	None  Form = "none" // nothing
	Env   Form = "env"  // nothing: the program looks at its environment
)

// Known reports whether the form is one of those above.
func (f Form) Known() bool { return f == "" || f == Hydra || f == None || f == Env }

// switches reports whether a switch is there or absent.
func (s Style) switches() bool { return s.Form == "" && !s.SwitchValue }

// Flags makes the command-line flags of points. It is immutable and may be used concurrently.
type Flags struct {
	space *Space
	flags []flag
}

// flag makes the arguments of one parameter. Those of few values are made once: that is what keeps
// iteration fast.
type flag struct {
	parameter *parameter
	style     Style
	head      string     // "--key=", or "--key" when the value is an argument of its own
	none      bool       // the parameter has no arguments
	ready     [][]string // the arguments of every value; nil when there are many values
}

// maxReady is the number of values up to which a parameter's arguments are made beforehand: some
// 100 KB for one of average length, and enough for what people write by hand.
const maxReady = 1024

// Flags prepares the flags of this space in a style, but for parameters of the names in without.
func (s *Space) Flags(style Style, without ...string) *Flags {
	f := &Flags{space: s, flags: make([]flag, len(s.plan.parameters))}
	for j := range s.plan.parameters {
		f.flags[j] = newFlag(&s.plan.parameters[j], style, without)
	}
	return f
}

func newFlag(p *parameter, style Style, without []string) flag {
	f := flag{parameter: p, style: style, head: "--" + p.name + "="}
	switch {
	case style.Form == None || style.Form == Env || slices.Contains(without, p.name):
		f.none = true
		return f
	case style.Form == Hydra:
		f.head, f.style.Space = p.name+"=", false
	case style.Space:
		f.head = "--" + p.name
	}
	if n := p.count(); n <= maxReady {
		ready := make([][]string, n)
		for i := range ready {
			ready[i] = f.make(nil, int64(i))
		}
		f.ready = ready
	}
	return f
}

// append appends the arguments of value i: none, one or two.
func (f *flag) append(dst []string, i int64) []string {
	if f.none || i == absent {
		return dst
	}
	if i < int64(len(f.ready)) {
		return append(dst, f.ready[i]...)
	}
	return f.make(dst, i)
}

func (f *flag) make(dst []string, i int64) []string {
	if span := f.parameter.span; span != nil && i < span.count {
		if f.style.Space {
			return append(dst, f.head, span.value(i))
		}
		var text [96]byte // most flags; a longer one moves to the heap
		return append(dst, string(span.appendValue(append(text[:0], f.head...), i)))
	}
	v := f.parameter.value(i)
	switch {
	case v.flag && f.style.switches() && !v.on():
		return dst
	case v.flag && f.style.switches():
		return append(dst, "--"+f.parameter.name)
	case f.style.Space:
		return append(dst, f.head, v.text)
	default:
		return append(dst, f.head+v.text)
	}
}

// Append appends the flags of point i to dst, in file order. It panics unless 0 <= i < Len.
func (f *Flags) Append(dst []string, i int64) []string {
	var space [few]int64
	for j, n := range f.space.numbers(i, space[:]) {
		dst = f.flags[j].append(dst, n)
	}
	return dst
}

// All yields, for the points from, from+1, …, to-1, the index and prefix followed by the flags: a
// whole command line when prefix is the command. Points outside the space are left out. The slice
// is reused from one iteration to the next and must not be changed: copy it to keep it. Its strings
// stay good, and prefix is copied.
func (f *Flags) All(prefix []string, from, to int64) iter.Seq2[int64, []string] {
	return func(yield func(int64, []string) bool) {
		from, to := max(from, 0), min(to, f.space.Len())
		if from >= to {
			return
		}
		line := newLine(f, prefix, from)
		for i := from; yield(i, slices.Clip(line.argv)); {
			if i++; i == to {
				return
			}
			line.rewrite(line.at.advance())
		}
	}
}

// line is a command line in which only the flags of changed parameters are written anew.
type line struct {
	flags []flag
	at    *cursor
	start []int // where each parameter's arguments begin in argv
	argv  []string
}

func newLine(f *Flags, prefix []string, point int64) *line {
	l := &line{flags: f.flags, at: f.space.cursor(point), start: make([]int, len(f.flags))}
	l.argv = append(make([]string, 0, len(prefix)+2*len(f.flags)), prefix...)
	if len(l.start) > 0 {
		l.start[0] = len(prefix)
		l.rewrite(0)
	}
	return l
}

// rewrite writes the arguments of parameter j and of all after it: an absent switch moves what
// follows.
func (l *line) rewrite(j int) {
	if j == len(l.flags) {
		return
	}
	argv := l.argv[:l.start[j]]
	for ; j < len(l.flags); j++ {
		l.start[j] = len(argv)
		argv = l.flags[j].append(argv, l.at.numbers[j])
	}
	l.argv = argv
}

package space

import "slices"

// Style is how assignments become command-line arguments. The zero value gives --key=value.
type Style struct {
	Space  bool       `json:"space,omitempty"` // --key value, as two arguments
	Switch SwitchForm `json:"switch,omitempty"`
	Form   Form       `json:"form,omitempty"` // instead of flags
}

// SwitchForm is how a switch is passed on a command line. The zero value is --key, or no flag.
type SwitchForm string

// The other forms of switches.
const (
	// a switch is a value like any other: --key=true, --key=false (with Space: --key true)
	SwitchValue SwitchForm = "value"
	SwitchNo    SwitchForm = "no" // --key, --no-key
)

// Known reports whether the form is one of those above.
func (f SwitchForm) Known() bool { return f == "" || f == SwitchValue || f == SwitchNo }

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

// switches reports whether a switch is a flag without a value.
func (s Style) switches() bool { return s.Form == "" && s.Switch != SwitchValue }

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
	text := v.text
	if f.style.Form == Hydra {
		text = v.hydra()
	}
	switch {
	case v.kind == Null && f.style.Form == "":
		return dst
	case v.kind == Switch && f.style.switches() && !v.on():
		if f.style.Switch == SwitchNo {
			return append(dst, "--no-"+f.parameter.name)
		}
		return dst
	case v.kind == Switch && f.style.switches():
		return append(dst, "--"+f.parameter.name)
	case f.style.Space:
		return append(dst, f.head, text)
	default:
		return append(dst, f.head+text)
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

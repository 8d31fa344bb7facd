package nvdocker

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Idle is how much of a GPU's memory may be in use while it counts as free, in bytes, where its
// user does not say otherwise: the driver takes some, and a desktop some hundred MB.
const Idle = 1 << 30

// Xid is an error that the driver wrote to the kernel's log.
type Xid struct {
	Bus  string // the GPU's place, as in GPU.Bus without the function: "0000:07:00"
	Code int
	Text string
}

// xid is such a line: "NVRM: Xid (PCI:0000:0b:00): 79, pid=1896, GPU has fallen off the bus."
// Before driver 510 pid= is not there.
var xid = regexp.MustCompile(
	`NVRM: Xid \(PCI:([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})[^)]*\): ([0-9]{1,4})(?:, (.*))?`)

// Xids finds the driver's errors in the kernel's log, in its order.
func Xids(log string) (all []Xid) {
	for line := range strings.Lines(log) {
		if m := xid.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			code, _ := strconv.Atoi(m[2]) // digits
			all = append(all, Xid{Bus: bus(m[1]), Code: code, Text: m[3]})
		}
	}
	return all
}

// broken are the errors after which a GPU is not fit to work until it is reset, the host is booted,
// or the card is replaced. The rest are mostly faults of programs, as 13, 31 and 43 are, or have no
// consequence. Source: NVIDIA's Xid catalog,
// https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html.
var broken = map[int]string{
	46:  "it stopped processing",
	48:  "its memory has an error that cannot be corrected",
	61:  "its internal controller failed",
	62:  "its internal controller failed",
	64:  "a defective row of its memory could not be replaced",
	74:  "its NVLink failed",
	79:  "it has fallen off the bus",
	95:  "its memory has an error that reached other programs",
	109: "its context switch timed out",
	110: "its security processor failed",
	119: "its system processor (GSP) does not answer",
	120: "its system processor (GSP) failed",
	140: "its memory has an error that cannot be recovered from",
	143: "it could not be initialized",
	154: "it has to be reset",
}

// recovered is Xid 154 of a GPU that needs nothing any more, as after a reset: "GPU recovery action
// changed from 0x1 (GPU Reset Required) to 0x0 (None)". Drivers write it from 570 on.
var recovered = regexp.MustCompile(`to 0x[0-9a-fA-F]+ \(None\)`)

// Health is what keeps a GPU from work, each with what to do; nil: nothing. Its use, by whomever,
// is not among them: see InUse. Xids are in the order of the kernel's log, of whichever GPU; nil
// where that log may not be read. Those before an Xid 154 that says that the GPU needs no recovery
// any more do not count. Older drivers do not tell of a reset: then the caller passes the Xids
// since the last reset of the GPU or boot of the host.
func Health(g GPU, xids []Xid) (problems []Problem) {
	what := "GPU " + g.Number()
	if g.Lost != "" {
		p := Problem{what + " does not answer: " + g.Lost,
			"reboot the host; if it comes again look at power, heat and seat of the card"}
		if known := Explain(g.Lost); known != nil {
			p.Remedy = known.Remedy
		}
		problems = append(problems, p)
	}
	if g.Errors > 0 {
		problems = append(problems, Problem{fmt.Sprintf("%s: its memory had %d uncorrected "+
			"errors (ECC)", what, g.Errors),
			"end its programs and reset it (sudo nvidia-smi --gpu-reset -i " +
				g.Number() +
				"), or reboot the host; if it comes again replace the card"})
	}
	seen := map[int]bool{}
	for _, x := range slices.Backward(xids) {
		if !strings.HasPrefix(g.Bus, x.Bus+".") {
			continue
		}
		if x.Code == 154 && recovered.MatchString(x.Text) {
			break
		}
		why, is := broken[x.Code]
		if !is || seen[x.Code] {
			continue
		}
		seen[x.Code] = true
		problems = append(problems, Problem{fmt.Sprintf("%s: %s (Xid %d)", what, why, x.Code),
			"reset it (sudo nvidia-smi --gpu-reset -i " + g.Number() + ") or reboot the host; " +
				"the kernel's log has more: dmesg | grep Xid"})
	}
	return problems
}

// Free reports whether a GPU responds and at most idle bytes of its memory are in use.
func (g GPU) Free(idle int64) bool { return g.Lost == "" && g.inUse() <= idle }

// inUse returns how many bytes of a GPU's memory are in use. Where the driver tells that of programs
// alone, it is theirs together; a program of which it tells nothing may use all of it.
func (g GPU) inUse() (sum int64) {
	if g.Used != Unknown {
		return g.Used
	}
	for _, p := range g.Processes {
		if p.Memory == Unknown {
			return math.MaxInt64
		}
		sum += p.Memory
	}
	return sum
}

// Unavailable says why no program should get a GPU now, for people, and whether it is unfit: else
// somebody uses it, which is no reason against who that is. "" is a GPU that is fit and free.
// Memory that no program seems to have is in use by programs that are not seen from here: those
// that draw, and those outside of a container. Idle is that of Free.
func (g GPU) Unavailable(idle int64) (reason string, unfit bool) {
	if problems := Health(g, nil); len(problems) > 0 {
		return problems[0].Cause, true
	}
	if use := g.InUse(idle); use != "" {
		return "busy: " + use, false
	}
	return "", false
}

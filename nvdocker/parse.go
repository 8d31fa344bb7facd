package nvdocker

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parse reads the output of Script. It takes any text: what it cannot read it leaves out.
func Parse(output []byte) Report {
	p := parser{codes: map[string]string{}, users: map[int]string{}}
	for line := range bytes.Lines(output[:min(len(output), mostOutput)]) {
		word, rest, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
		p.line(word, rest)
	}
	return p.report()
}

// mostGPUs and mostProcesses bound what a report has, whatever a host prints.
const (
	mostGPUs      = 256
	mostProcesses = 4096
)

// parser gathers what the lines of a script's output say.
type parser struct {
	Report
	cards   []string // NVIDIA's on the PCI bus, whether or not there is a driver
	module  string   // version of the driver in the kernel
	known   []GPU    // those that the driver in the kernel has, by their place
	errors  []string // lines where answers were expected
	apps    []app
	users   map[int]string
	codes   map[string]string // exit statuses, the last of each question
	missing bool              // there is no nvidia-smi
	done    bool
	split   int // the GPU that lines of instances belong to, by place in GPUs; -1: none
}

// app is a process and its GPU.
type app struct {
	uuid string
	Process
}

func (p *parser) line(word, rest string) {
	switch word {
	case "card":
		p.cards = append(p.cards, rest)
	case "module":
		p.module = rest
	case "known":
		p.knownLine(rest)
	case "missing":
		p.missing = true
	case "gpu":
		if !p.gpu(rest) {
			p.errors = append(p.errors, rest)
		}
	case "list":
		p.listed(rest)
	case "app":
		p.app(rest)
	case "user":
		pid, user, _ := strings.Cut(rest, " ")
		if n, err := strconv.Atoi(pid); err == nil && user != "UNKNOWN" {
			p.users[n] = user
		}
	case "head":
		if m := cudaVersion.FindStringSubmatch(rest); m != nil && p.CUDA == "" {
			p.CUDA = m[1]
		}
	case "done":
		p.done = true
	default:
		if name, is := strings.CutSuffix(word, "="); is {
			p.codes[name] = rest
		}
	}
}

// cudaVersion is in the head of nvidia-smi's table, from drivers of 2018 (410) on.
var cudaVersion = regexp.MustCompile(`CUDA (?:UMD )?Version *: *([0-9]+\.[0-9]+)`)

// fields of a line of --query-gpu, in the script's order; the last is not there before driver 450.
const (
	fieldIndex = iota
	fieldUUID
	fieldName
	fieldBus
	fieldDriver
	fieldMemory
	fieldUsed
	fieldUtilization
	fieldTemperature
	fieldECC
	fieldErrors
	fieldMIG
)

// gpu reads a line of --query-gpu; false when it is none.
func (p *parser) gpu(line string) bool {
	f := strings.Split(line, ", ")
	index, err := strconv.Atoi(f[fieldIndex])
	if len(f) < fieldMIG || err != nil || index < 0 || !isUUID(f[fieldUUID], "GPU-") {
		return false
	}
	i := slices.IndexFunc(p.GPUs, func(g GPU) bool { return g.UUID == f[fieldUUID] })
	if i < 0 {
		if len(p.GPUs) == mostGPUs {
			return true
		}
		p.GPUs, i = append(p.GPUs, GPU{}), len(p.GPUs)
	}
	p.Driver = cmp.Or(told(f[fieldDriver]), p.Driver)
	p.GPUs[i] = GPU{UUID: f[fieldUUID], Index: index, Name: f[fieldName], Bus: bus(f[fieldBus]),
		Memory: mebibytes(f[fieldMemory]),
		Used:   mebibytes(f[fieldUsed]), Utilization: number(f[fieldUtilization]),
		Temperature: number(f[fieldTemperature]),
		ECC:         told(f[fieldECC]), Errors: number(f[fieldErrors]), MIG: len(f) > fieldMIG &&
			f[fieldMIG] == "Enabled"}
	for _, field := range f[fieldMemory : fieldTemperature+1] {
		if why := sick(field); why != "" {
			p.GPUs[i].Lost = why
		}
	}
	return true
}

// sick is why a GPU does not answer, by a field; "": it does, or does not tell.
func sick(field string) string {
	switch strings.Trim(field, "[]") {
	case "GPU is lost":
		return "GPU is lost"
	case "GPU requires reset":
		return "GPU requires reset"
	}
	return ""
}

// told is a field's text; "" where the driver does not tell.
func told(field string) string {
	if strings.HasPrefix(field, "[") || field == "N/A" || strings.HasPrefix(field, "ERR!") {
		return ""
	}
	return field
}

// number is a whole number that is not below 0, or Unknown.
func number(field string) int {
	if n, err := strconv.Atoi(field); err == nil && n >= 0 {
		return n
	}
	return Unknown
}

// mebibytes is a number of MiB, as nvidia-smi gives memory without units, in bytes; or Unknown.
func mebibytes(field string) int64 {
	if n := number(field); n != Unknown && n < 1<<40 {
		return int64(n) << 20
	}
	return Unknown
}

// bus is a place on the PCI bus as the kernel names it: nvidia-smi writes 00000000:0B:00.0 for
// 0000:0b:00.0.
func bus(field string) string {
	domain, rest, found := strings.Cut(strings.ToLower(field), ":")
	if !found {
		return ""
	}
	return strings.Repeat("0", max(0, 4-len(domain))) + domain[max(0, len(domain)-4):] + ":" + rest
}

// isUUID reports whether text is an identifier of a GPU or an instance: what reaches variables and
// Docker is nothing else.
func isUUID(text, prefix string) bool {
	rest, is := strings.CutPrefix(text, prefix)
	return is && rest != "" && len(text) < 128 && !strings.ContainsFunc(rest, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' &&
			c != '/'
	})
}

// knownLine reads a line of what the driver in the kernel has of one GPU, as it does of one that
// nvidia-smi does not reach any more.
func (p *parser) knownLine(line string) {
	place, fact, _ := strings.Cut(line, " ")
	i := slices.IndexFunc(p.known, func(g GPU) bool { return g.Bus == bus(place) })
	if i < 0 {
		if len(p.known) == mostGPUs {
			return
		}
		i, p.known = len(p.known), append(p.known, GPU{Index: Unknown, Bus: bus(place),
			Memory: Unknown, Used: Unknown,
			Utilization: Unknown, Temperature: Unknown, Errors: Unknown})
	}
	name, value, _ := strings.Cut(fact, ":")
	switch value = strings.TrimSpace(value); name {
	case "Model":
		p.known[i].Name = value
	case "GPU UUID":
		if isUUID(value, "GPU-") { // one that was never reached has question marks
			p.known[i].UUID = value
		}
	}
}

var (
	listedGPU      = regexp.MustCompile(`^GPU [0-9]+: .*\(UUID: (GPU-[^)]+)\)`)
	listedInstance = regexp.MustCompile(
		`^ +MIG ([0-9a-z.+]+) +Device +([0-9]+): \(UUID: (MIG-[^)]+)\)`)
	profileMemory = regexp.MustCompile(`^[0-9]+[cg](?:\.[0-9]+g)?\.([0-9]+)gb`)
)

// listed reads a line of nvidia-smi -L, which has the instances of GPUs that are split.
func (p *parser) listed(line string) {
	if m := listedGPU.FindStringSubmatch(line); m != nil {
		p.split = slices.IndexFunc(p.GPUs, func(g GPU) bool { return g.UUID == m[1] })
		return
	}
	m := listedInstance.FindStringSubmatch(line)
	if m == nil || p.split < 0 || p.split >= len(p.GPUs) || !isUUID(m[3], "MIG-") ||
		len(p.GPUs[p.split].Instances) == mostGPUs {
		return
	}
	i := Instance{UUID: m[3], Index: number(m[2]), Profile: m[1], Memory: Unknown}
	if size := profileMemory.FindStringSubmatch(m[1]); size != nil && number(size[1]) != Unknown {
		i.Memory = int64(number(size[1])) << 30
	}
	p.GPUs[p.split].Instances = append(p.GPUs[p.split].Instances, i)
}

// app reads a line of --query-compute-apps. The name is at its end, as it may hold commas.
func (p *parser) app(line string) {
	f := strings.SplitN(line, ", ", 4)
	if len(f) < 4 || number(f[1]) <= 0 || len(p.apps) == mostProcesses {
		return
	}
	p.apps = append(p.apps, app{uuid: f[0], Process: Process{PID: number(f[1]),
		Memory: mebibytes(f[2]), Name: f[3]}})
}

// lostDevice is what nvidia-smi prints instead of an answer of a GPU: "Unable to determine the
// device handle for GPU 0000:0B:00.0: GPU is lost. Reboot the system to recover this GPU". Newer
// drivers write "GPU1: 0000:0B:00.0:".
var lostDevice = regexp.MustCompile(
	`(?i)unable to determine the device handle for gpu ?(?:[0-9]+: )?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]): *(.*)`)

// report puts together what the lines said.
func (p *parser) report() Report {
	for _, a := range p.apps {
		a.User = p.users[a.PID]
		for i := range p.GPUs {
			if p.GPUs[i].UUID == a.uuid || slices.ContainsFunc(p.GPUs[i].Instances,
				func(n Instance) bool { return n.UUID == a.uuid }) {
				p.GPUs[i].Processes = append(p.GPUs[i].Processes, a.Process)
			}
		}
	}
	lost := map[string]string{} // by place
	for _, line := range p.errors {
		if m := lostDevice.FindStringSubmatch(line); m != nil {
			why, _, _ := strings.Cut(m[2], ".")
			lost[bus(m[1])] = cmp.Or(strings.TrimSpace(why), "Unknown Error")
		}
	}
	answers := len(p.GPUs) > 0
	for _, g := range p.known {
		if !slices.ContainsFunc(p.GPUs, func(there GPU) bool { return there.Bus == g.Bus }) &&
			(answers || len(lost) > 0) {
			g.Lost = cmp.Or(lost[g.Bus], "it is not listed by nvidia-smi")
			p.GPUs = append(p.GPUs, g)
		}
	}
	for place, why := range lost {
		if !slices.ContainsFunc(p.GPUs, func(g GPU) bool { return g.Bus == place }) &&
			len(p.GPUs) < mostGPUs {
			p.GPUs = append(p.GPUs, GPU{Index: Unknown, Bus: place, Lost: why, Memory: Unknown,
				Used:        Unknown,
				Utilization: Unknown, Temperature: Unknown, Errors: Unknown})
		}
	}
	slices.SortFunc(p.GPUs, func(a, b GPU) int {
		return cmp.Or(cmp.Compare(uint(a.Index), uint(b.Index)), strings.Compare(a.Bus, b.Bus),
			strings.Compare(a.UUID, b.UUID))
	})
	p.Fault = p.fault(len(lost) > 0)
	return p.Report
}

// infoROM is the exit status with which nvidia-smi answers and warns that a GPU's infoROM is
// corrupted, which keeps no program from it.
const infoROM = "14"

// fault is why not all GPUs are listed; nil: they are, or there is none.
func (p *parser) fault(lost bool) *Problem {
	code := p.codes["gpu"]
	switch {
	case p.missing && len(p.cards) > 0:
		return &Problem{fmt.Sprintf("there is an NVIDIA GPU (%s) and no driver for it",
			strings.Join(p.cards, ", ")),
			"install the driver of your distribution (Ubuntu: ubuntu-drivers install; Debian: " +
				"apt-get install nvidia-driver), and reboot"}
	case p.missing:
		return nil
	case code == "124" || code == "137" || !p.done && code == "" && len(p.GPUs) == 0:
		return &Problem{"nvidia-smi does not answer in time: the driver hangs, or begins anew " +
			"with each question",
			"look for Xid in the kernel's log (dmesg | grep Xid) and reboot the host; if it only " +
				"takes long, sudo nvidia-smi -pm 1"}
	case !p.done:
		return &Problem{"the host stopped answering while its GPUs were asked", "try again"}
	case len(p.GPUs) > 0 && (lost || code == "0" || code == infoROM):
		return nil // each GPU says for itself how it is
	case len(p.cards) == 0 && (code == "6" || code == "9"):
		return nil // the tools are installed, and no GPU
	}
	text := strings.Join(p.errors, " ")
	if text == "" && code == "0" {
		return nil
	}
	if problem := Explain(text); problem != nil {
		if p.module != "" {
			problem.Cause += " (" + p.module + " is loaded)"
		}
		return problem
	}
	return &Problem{Cause: fmt.Sprintf("nvidia-smi failed (exit status %s): %s", code,
		cmp.Or(shorten(text), "it printed nothing"))}
}

// shorten is the beginning of a text that is not ours.
func shorten(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

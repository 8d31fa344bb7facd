package site_test

import (
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/infra/plan"
	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// poison is text that clears a terminal, hides what follows, and turns it around; safe is how it
// may be shown.
const (
	poison = "\x1b[2J\a\r\u009b8m\u202e\x7f"
	safe   = `\x1b[2J\a\r`
)

// texts calls visit with each text in v that can be set. Where fill is true, pointers are made to
// point, and empty lists get an item.
func texts(v reflect.Value, fill bool, path string, visit func(path string, text reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			visit(path, v)
		}
	case reflect.Pointer:
		if v.IsNil() && fill && v.CanSet() && strings.Count(path, ".") < 6 {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			texts(v.Elem(), fill, path, visit)
		}
	case reflect.Slice:
		if v.Len() == 0 && fill && v.CanSet() && strings.Count(path, ".") < 6 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			texts(v.Index(i), fill, path+"[]", visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[time.Time]() {
				texts(v.Field(i), fill, path+"."+f.Name, visit)
			}
		}
	}
}

// heard is everything that others tell check-status and infrainit.
type heard struct {
	Overview      site.Overview
	Ready, Warned []api.Reason
	Silent        string
}

// said are hosts, workers, a broker and sweeps in many states; silent: the master does not answer.
func said(silent, fill bool) *heard {
	h := &heard{Overview: whole(), Ready: []api.Reason{{What: "broker", Text: "away"}},
		Warned: []api.Reason{{What: "store", Text: "lost"}}}
	o := &h.Overview
	o.Hosts = append(o.Hosts, infra.HostStatus{Name: "away", Problem: "no answer",
		Remedy: "switch it on"}, host("wrong", plan.Worker))
	o.Hosts[len(o.Hosts)-1].Reached, o.Hosts[len(o.Hosts)-1].Problem = true, "no docker"
	o.Hosts[2].Containers[0].State, o.Hosts[2].Containers[0].Running = "exited", false
	o.Hosts[1].NVIDIA = nvdocker.Report{GPUs: []nvdocker.GPU{{Name: "A", UUID: "u",
		Lost: "it fell off"},
		{Name: "B", Processes: []nvdocker.Process{{Name: "python"}},
			Instances: []nvdocker.Instance{{Profile: "1g"}}}}, Fault: &nvdocker.Problem{Cause: "c"}}
	for _, state := range []string{core.WorkerAway, core.WorkerRefused, core.WorkerDraining} {
		w := worker("w-"+state, state)
		w.Reason, w.Unconfined = ptr("why"), ptr("an old kernel")
		o.Workers, o.Hosts = append(o.Workers, w), append(o.Hosts, host("w-"+state, plan.Worker))
	}
	if fill {
		texts(reflect.ValueOf(h).Elem(), true, "", func(string, reflect.Value) {})
	}
	if silent {
		h.Silent = "no answer"
	}
	return h
}

// shown is all that people see of it.
func (h *heard) shown(t *testing.T) string {
	t.Helper()
	o := &h.Overview
	var err error
	if h.Silent != "" {
		err = errors.New(h.Silent)
	}
	faults := o.Judge(h.Ready, h.Warned, err)
	var b strings.Builder
	if err := o.WriteHosts(&b); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{0, 60} {
		b.WriteString(strings.Join(append(o.Tables(width), o.Verdict(width)...), "\n"))
	}
	cli.Finish(&b, "infrainit",
		plan.Problems{{Host: o.Hosts[0].Name, What: o.Hosts[0].Problem, Remedy: o.Hosts[0].Remedy}})
	for _, f := range faults {
		cli.Finish(&b, "infrainit", &cli.Error{Code: cli.Failed, Err: errors.New(f.String()),
			Remedy: f.Remedy})
	}
	return b.String()
}

// unsafe reports whether text contains characters that a terminal interprets.
func unsafe(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	})
}

// Whatever text of hosts, Docker, the broker or the master is hostile, a terminal shows it and does
// not act on it.
func TestHostileTextIsShownAsItIs(t *testing.T) {
	t.Parallel()
	appeared := map[string]bool{}
	for _, silent := range []bool{false, true} {
		for _, fill := range []bool{false, true} {
			paths := 0
			texts(reflect.ValueOf(said(silent, fill)).Elem(), false, "",
				func(string, reflect.Value) { paths++ })
			for n := range paths {
				h, at, name := said(silent, fill), 0, ""
				texts(reflect.ValueOf(h).Elem(), false, "", func(path string, text reflect.Value) {
					if at++; at == n+1 {
						name = path
						text.SetString(text.String() + poison)
					}
				})
				all := h.shown(t)
				if unsafe(all) {
					t.Errorf("%s reaches the terminal: %q", name, all)
				}
				if strings.Contains(all, safe) {
					appeared[name] = true
				}
			}
		}
	}
	for _, path := range []string{".Overview.Cluster", ".Overview.Master", ".Overview.Hosts[].Name",
		".Overview.Hosts[].Problem", ".Overview.Hosts[].Containers[].State",
		".Overview.Hosts[].NVIDIA.GPUs[].Name", ".Overview.Workers[].Reason",
		".Overview.Workers[].Program", ".Overview.Workers[].Unconfined",
		".Overview.Broker.Program",
		".Overview.Broker.Queues[].Queue", ".Overview.Sweeps[].ID", ".Ready[].Text",
		".Warned[].Text", ".Silent"} {
		if !appeared[path] {
			t.Errorf("%s is not among what was shown: %v", path, appeared)
		}
	}
}

// What infrainit reports of its steps, and update-files of its pushes.
func TestHostileReports(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := site.NewPrinter(w)
	p.Did("gpu1"+poison, "start"+poison, time.Second)
	p.Warn("gpu1"+poison, "clock"+poison)
	p.Says("gpu1"+poison, "pull"+poison)
	steps := plan.Plan{Changes: true,
		Steps: []plan.Step{{Host: "gpu1" + poison, Title: "start" + poison}}}
	if err := steps.Write(cli.Shown{To: w}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	all, err := io.ReadAll(r)
	if err != nil || unsafe(string(all)) || strings.Count(string(all), safe) != 8 {
		t.Errorf("%v: %q", err, all)
	}
}

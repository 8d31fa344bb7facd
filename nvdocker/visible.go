package nvdocker

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Visible returns the report with the GPUs, and instances, that a value of CUDA_VISIBLE_DEVICES
// names, in its order. It is separated by commas: numbers as nvidia-smi has them, which stand for
// all instances of a GPU that is split, or UUIDs or their unique beginnings. As for CUDA, what
// follows a name that stands for nothing does not count: "" and "-1" are none. GPUs that do not
// answer stay, as Devices leaves them out.
func (r Report) Visible(value string) Report {
	names := strings.Split(value, ",")
	for i, name := range names {
		if _, found := named(r.GPUs, strings.TrimSpace(name)); !found {
			names = names[:i]
			break
		}
	}
	return r.Only(names)
}

// Pin returns the UUIDs of what Visible keeps, for Only with later reports: in these a value may
// mean others, as GPUs behind one that is lost may have new numbers. The GPUs should all answer.
func (r Report) Pin(value string) (uuids []string) {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		g, found := named(r.GPUs, name)
		if !found {
			break
		}
		if _, err := strconv.Atoi(name); err == nil || begins(g.UUID, name) {
			uuids = append(uuids, g.UUID)
			continue
		}
		for _, i := range g.Instances {
			uuids = append(uuids, i.UUID)
		}
	}
	return uuids
}

// Only is Visible with a list of names, of which one that stands for nothing changes nothing for
// the others.
func (r Report) Only(names []string) Report {
	all := r.GPUs
	r.GPUs = nil
	for _, name := range names {
		g, found := named(all, strings.TrimSpace(name))
		if !found {
			continue
		}
		at := slices.IndexFunc(r.GPUs, func(have GPU) bool { return have.UUID == g.UUID })
		if at < 0 {
			r.GPUs = append(r.GPUs, g)
			continue
		}
		for _, i := range g.Instances { // further ones of the same GPU
			if !slices.Contains(r.GPUs[at].Instances, i) {
				r.GPUs[at].Instances = append(r.GPUs[at].Instances, i)
			}
		}
	}
	for _, g := range all {
		if g.Lost != "" {
			r.GPUs = append(r.GPUs, g)
		}
	}
	return r
}

// named returns the GPU that a name stands for, with the instances that it means.
func named(all []GPU, name string) (g GPU, found bool) {
	number, err := strconv.Atoi(name)
	for _, have := range all {
		if have.Lost != "" || have.UUID == "" {
			continue
		}
		have.Instances = slices.Clone(have.Instances)
		if err == nil {
			if have.Index == number && number >= 0 {
				return have, true
			}
			continue
		}
		if !begins(have.UUID, name) {
			have.Instances = slices.DeleteFunc(have.Instances,
				func(i Instance) bool { return !begins(i.UUID, name) })
			if len(have.Instances) == 0 {
				continue
			}
			if len(have.Instances) > 1 {
				return GPU{}, false
			}
		}
		if found {
			return GPU{}, false
		}
		g, found = have, true
	}
	return g, found
}

// begins reports whether a name is a UUID or its beginning. One that is nothing but the kind of
// UUID names nothing.
func begins(uuid, name string) bool {
	_, rest, _ := strings.Cut(name, "-")
	return rest != "" && strings.HasPrefix(uuid, name)
}

// Installed reports whether there is an nvidia-smi where Script looks for it. Without one Detect
// finds no GPU that programs could use.
func Installed() bool {
	if _, err := exec.LookPath("nvidia-smi"); err == nil {
		return true
	}
	// as in script.sh
	return slices.ContainsFunc([]string{"/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/lib/wsl/lib",
		"/usr/local/nvidia/bin"}, func(folder string) bool {
		info, err := os.Stat(filepath.Join(folder, "nvidia-smi"))
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	})
}

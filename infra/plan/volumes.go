package plan

import (
	"path"
	"slices"
	"strings"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
)

// volumes returns the volumes of a host's worker, as they are written: those of the project, then
// those of the host, which replace others with the same target.
func (c Cluster) volumes(h Host) (all []string) {
	if h.Work == nil {
		return nil
	}
	for _, v := range c.Project.Volumes {
		if !slices.ContainsFunc(h.Work.Volumes, func(own string) bool {
			return target(own) == target(v)
		}) {
			all = append(all, v)
		}
	}
	return append(all, h.Work.Volumes...)
}

// target returns where a volume is in the container.
func target(text string) string { return path.Clean(volume(text, "").At) }

// ofTheWorker reports whether a worker's container has a folder of its own at a target, or around
// it.
func ofTheWorker(target string) bool {
	return target == "/tmp" || within(target, path.Dir(layout.ProgramAt))
}

// Sources returns the folders of a host that the volumes of its worker show to tasks, as they are
// written: absolute, or from "~" on.
func (c Cluster) Sources(host string) (all []string) {
	h, _ := c.host(host)
	for _, v := range c.volumes(h) {
		source, _, _ := strings.Cut(v, ":")
		all = append(all, source)
	}
	return all
}

// volume reads "source:target" or "source:target:ro". The source is a folder of the host, or the
// name of a volume.
func volume(text, home string) docker.Mount {
	text, readOnly := strings.CutSuffix(text, ":ro")
	source, at, _ := strings.Cut(strings.TrimSuffix(text, ":rw"), ":")
	m := docker.Mount{At: at, ReadOnly: readOnly}
	switch {
	case source == "~" || strings.HasPrefix(source, "~/"):
		m.Bind = path.Join(home, source[1:])
	case strings.HasPrefix(source, "/"):
		m.Bind = source
	default:
		m.Volume = source
	}
	return m
}

// volumes finds those that the container cannot have, those whose folder is not there, and those
// that would show tasks what is the cluster's own under another name, where nothing keeps them from
// it. Where links lead is known of hosts that told it.
func (p *problems) volumes(c Cluster, h Host, f Found) {
	own := []string{f.Root, f.RealRoot}
	for i, v := range c.volumes(h) {
		where := "volumes: in tasks.yml"
		if slices.Contains(h.Work.Volumes, v) {
			where = "volumes: of this host in cluster.yml"
		}
		if at := target(v); ofTheWorker(at) {
			p.fault("name another target in "+where,
				"its volume %s has the target %s, where the worker has folders of its own", v, at)
			continue
		}
		source := volume(v, f.Home).Bind
		if slices.ContainsFunc(f.MissingSources, func(m string) bool {
			return source != "" && path.Clean(m) == path.Clean(source)
		}) {
			p.fault("make it there (mkdir -p "+source+"), or remove it from "+where,
				"its volume %s has no folder: there is no %s", v, source)
			continue
		}
		shown := []string{source}
		if i < len(f.RealSources) {
			shown = append(shown, f.RealSources[i])
		}
		if at := overlap(shown, own); at != "" {
			p.fault("name a folder that neither contains the cluster's nor lies in it; -r moves "+
				"that",
				"its volume %s shows tasks the folder of the cluster, %s, with passwords and "+
					"other tasks' files", v, at)
		}
	}
}

// overlap returns the first of the others that is one of some folders, lies in one or contains one;
// "" if there is none. Empty paths are not compared.
func overlap(some, others []string) string {
	for _, o := range others {
		for _, s := range some {
			if s != "" && o != "" && (within(s, o) || within(o, s)) {
				return o
			}
		}
	}
	return ""
}

// within reports whether a path is a folder or in it.
func within(name, folder string) bool {
	return strings.HasPrefix(path.Clean(name)+"/", strings.TrimSuffix(path.Clean(folder), "/")+"/")
}

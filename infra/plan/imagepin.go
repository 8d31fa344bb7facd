package plan

import (
	"cmp"
	"maps"
	"slices"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
)

// A reference such as python:3.12-slim stands for one image in a cluster. Which one is decided
// once, and kept in the record: what hosts have already, what the registry has or, where neither is
// known, what the first host gets. A host that has another image under the name gets the right one.

// use is a reference that a host needs.
type use struct {
	host Host
	ref  string
}

// uses are the references that all hosts need, but for those of images that the cluster itself
// makes: their tags have whatever they depend on.
func (c Cluster) uses(found map[string]Found) (all []use) {
	if h, there := c.host(c.Master); there && !c.Adds {
		all = append(all, use{h, c.BrokerImage})
	}
	for _, h := range c.Hosts {
		if h.Work != nil && (h.Work.Image != "" || c.Project.Build == "") {
			all = append(all, use{h, c.workerRef(h, found[h.Name])})
		}
	}
	return all
}

// Untold returns the references of which nobody knows yet for what they stand, each with the hosts
// that need it: Cluster.Told is to have them.
func Untold(c Cluster, found map[string]Found, old layout.Record) map[string][]string {
	all := map[string][]string{}
	known := map[string]bool{}
	for _, u := range c.uses(found) {
		if u.ref == "" || docker.DigestOf(u.ref) != "" {
			continue
		}
		all[u.ref] = append(all[u.ref], u.host.Name)
		_, there := found[u.host.Name].Images[u.ref]
		if !c.Pull && (there || old.Image(u.ref).Ref != "") {
			known[u.ref] = true
		}
	}
	maps.DeleteFunc(all, func(ref string, _ []string) bool { return known[ref] })
	return all
}

// pin decides for which images the references stand, as far as that is known before anything is
// done.
func (m *maker) pin() {
	m.pins = map[string]layout.RecordImage{}
	uses := m.uses(m.found)
	for _, u := range uses {
		if _, is := m.pins[u.ref]; is || u.ref == "" {
			continue
		}
		pin := m.old.Image(u.ref)
		if told := m.Told[u.ref]; told.Ref != "" && (told.Digest == "" ||
			told.Digest != pin.Digest) {
			pin = told
		}
		if pin.Ref == "" {
			pin = layout.RecordImage{Ref: u.ref, Digest: docker.DigestOf(u.ref)}
		}
		for _, other := range uses {
			f := m.found[other.host.Name]
			i, there := f.Images[u.ref]
			if there && other.ref == u.ref && Pins(pin, i, f.Arch) {
				pin = WithImage(pin, i, f.Arch)
			}
		}
		m.pins[u.ref] = pin
	}
}

// WithImage returns a pin that has an image of a host, too: by its digest, or else by its id.
func WithImage(pin layout.RecordImage, i docker.Image, arch string) layout.RecordImage {
	digest := i.Digest(pin.Ref)
	pin.Digest = cmp.Or(pin.Digest, digest)
	if (digest == "" || !i.Has(pin.Ref, pin.Digest)) && !slices.Contains(pin.IDs[arch], i.ID) {
		ids := maps.Clone(pin.IDs)
		if ids == nil {
			ids = map[string][]string{}
		}
		ids[arch] = append(slices.Clone(ids[arch]), i.ID)
		pin.IDs = ids
	}
	return pin
}

// Pins reports whether an image is the one for which a pinned reference stands. One of which
// nothing is known yet is.
func Pins(pin layout.RecordImage, i docker.Image, arch string) bool {
	return pin.Name(arch) == "" || pin.Digest != "" && i.Has(pin.Ref, pin.Digest) ||
		slices.Contains(pin.IDs[arch], i.ID)
}

// has reports whether a host has the image for which a reference stands.
func (m *maker) has(host, ref string) bool {
	i, there := m.found[host].Images[ref]
	return there && Pins(m.pins[ref], i, m.found[host].Arch)
}

// madeOf reports whether a container is made of the image that is pinned. What is not known of it
// is no reason to replace it.
func (m *maker) madeOf(host string, o docker.Container) bool {
	i, known := m.found[host].Images[o.ImageID]
	pin, pinned := m.pins[o.Image]
	return !known || !pinned || Pins(pin, i, m.found[host].Arch)
}

// noteImage keeps for the plan how the image of a worker that is replaced changes. The zero
// container is none.
func (m *maker) noteImage(host string, old docker.Container, wanted string) {
	change := old.Image + " -> " + wanted
	switch {
	case old.ID == "" || old.Image == wanted && m.madeOf(host, old):
		return
	case old.Image == wanted:
		change = wanted + ": " + m.moved(host, old)
	}
	if !slices.Contains(m.images, change) {
		m.images = append(m.images, change)
	}
}

// moved tells of a container that is made of another image than is pinned.
func (m *maker) moved(host string, o docker.Container) string {
	f := m.found[host]
	was := f.Images[o.ImageID]
	return "image " + layout.ShortDigest(cmp.Or(was.Digest(o.Image), was.ID)) + " -> " +
		layout.ShortDigest(m.pins[o.Image].Name(f.Arch))
}

// image has an image on a host before a container of it starts. Where it is not decided which one
// it is, the first host that gets it decides.
func (m *maker) image(host, ref string) string {
	id, arch := "image "+ref, m.found[host].Arch
	if m.has(host, ref) || m.done[host+"/"+id] {
		return host + "/" + id
	}
	pin, title := m.pins[ref], "get the image "+ref
	var needs []string
	if name := pin.Name(arch); name != "" {
		title += " (" + layout.ShortDigest(name) + ")"
		if i, there := m.found[host].Images[ref]; there {
			title += " in the place of " + layout.ShortDigest(cmp.Or(i.Digest(ref), i.ID))
		}
	} else if first := m.first[ref]; first != "" {
		needs = append(needs, first)
	} else {
		m.first[ref] = host + "/" + id
	}
	m.gets = append(m.gets, host+"/"+id)
	m.add(host, id, title, Image{ref, arch}, needs...)
	return host + "/" + id
}

// pinned are the images of the record: those that are needed, and others of a cluster that is
// joined.
func (m *maker) pinned() (all []layout.RecordImage) {
	for _, pin := range m.pins {
		if pin.Digest != "" || len(pin.IDs) > 0 {
			all = append(all, pin)
		}
	}
	for _, o := range m.old.Images {
		if _, is := m.pins[o.Ref]; m.Adds && !is {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b layout.RecordImage) int { return cmp.Compare(a.Ref, b.Ref) })
	return all
}

// recordImages notes at last what was learned of images that hosts have got.
func (m *maker) recordImages() {
	if len(m.gets) > 0 {
		m.add(m.Master, "record of images", "note which images there are", Keep{m.record(false)},
			append(m.gets, m.Master+"/"+stepRecord, m.Master+"/"+stepRecordAtLast)...)
	}
}

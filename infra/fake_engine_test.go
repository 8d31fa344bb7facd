package infra_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// engine is Docker's API over containers that are only noted. The zero value is of no use.
type engine struct {
	server *httptest.Server
	id     string // what it says that it is
	// what else it says of itself, in place of the usual
	info map[string]any

	mu         sync.Mutex
	containers map[string]*noted // by name
	networks   map[string]*noted
	volumes    map[string]*noted
	images     map[string]fakeImage // by reference
	old        map[string]fakeImage // all that ever were there, by id
	// versions of what it can pull, by reference; nil: it reaches none
	registry map[string]string
	asked    int                        // questions to the registry
	forbids  string                     // why no container starts; "": they do
	refuses  map[string]string          // why a container of that name does not start
	stopping func(left <-chan struct{}) // called before a container has ended; nil is not
	stopped  func()                     // called when a container was stopped; nil is not
	// what a look at an image of a broker prints; "": that it can be one
	says    string
	looks   int        // at images of a broker, so far
	execs   [][]string // what was run in containers
	exit    int        // how that ends
	changes int
	made    int    // containers so far
	store   string // of its images: ids in another are different
}

// fakeImage is one version of what is under a name.
type fakeImage struct {
	ref, version string
	local        bool // it came from no registry, or its engine does not know
	store        string
}

// digest is that of a version in the registry.
func digest(ref, version string) string {
	name, _, _ := strings.Cut(ref, ":")
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(name+" "+version)))
}

func (i fakeImage) id() string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(i.ref+" "+i.version+" in the store "+i.store)))
}

func (i fakeImage) inspected() map[string]any {
	digests := []string{}
	if !i.local {
		name, _, _ := strings.Cut(i.ref, ":")
		digests = append(digests, name+"@"+digest(i.ref, i.version))
	}
	return map[string]any{"Id": i.id(), "RepoTags": []string{i.ref}, "RepoDigests": digests,
		"Os": "linux", "Architecture": runtime.GOARCH,
		"RootFS": map[string]any{"Type": "layers", "Layers": []string{digest("layer of "+i.ref,
			i.version)}}}
}

// familiar is a name as people write it.
func familiar(name string) string { return strings.TrimPrefix(name, "docker.io/library/") }

// put gives the engine an image under a name.
func (e *engine) put(i fakeImage) {
	i.store = e.store
	e.images[i.ref], e.old[i.id()] = i, i
}

// forget takes away all images of a name, but for the one that the name points to.
func (e *engine) forget(ref string) {
	for id, i := range e.old {
		if i.ref == ref && i != e.images[ref] {
			delete(e.old, id)
		}
	}
}

// find finds an image by reference, digest or id.
func (e *engine) find(name string) (i fakeImage, there bool) {
	if i, there = e.images[name]; there {
		return i, true
	}
	if i, there = e.old[name]; there {
		return i, true
	}
	for _, i := range e.old {
		repository, _, _ := strings.Cut(i.ref, ":")
		if name == repository+"@"+digest(i.ref, i.version) && !i.local {
			return i, true
		}
	}
	return i, false
}

// noted is what the engine was told to make.
type noted struct {
	ID     string `json:"-"`
	Name   string
	Labels map[string]string
	Image  string
	made   string // id of the image
	State  string
	Ports  any
	Cmd    []string
	Env    []string
	Host   map[string]any // its HostConfig
}

func newEngine(t *testing.T, images ...string) *engine {
	e := &engine{containers: map[string]*noted{}, networks: map[string]*noted{},
		volumes: map[string]*noted{}, images: map[string]fakeImage{},
		old: map[string]fakeImage{}, refuses: map[string]string{}}
	for _, i := range images {
		e.put(fakeImage{ref: i, version: "1"})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ping", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.41")
	})
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
		said := map[string]any{"ID": e.id, "ServerVersion": "26.1", "CgroupVersion": "2"}
		maps.Copy(said, e.info)
		answer(w, said)
	})
	e.serveContainers(mux)
	e.serveImages(mux)
	e.serveNamed(mux, "networks", e.networks, func(all []any) any { return all })
	e.serveNamed(mux, "volumes", e.volumes, func(all []any) any {
		return map[string]any{"Volumes": all}
	})
	version := regexp.MustCompile(`^/v1\.\d+`)
	e.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		r.URL.Path = version.ReplaceAllString(r.URL.Path, "")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			e.changes++
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(e.server.Close)
	return e
}

func answer(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what) // whoever went away asks again
}

func fail(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	answer(w, map[string]string{"message": text})
}

// matches reports whether something has the labels that a request asks for.
func matches(r *http.Request, n *noted) bool {
	var filters map[string]map[string]bool
	_ = json.Unmarshal([]byte(r.URL.Query().Get("filters")), &filters) // none is none
	for label := range filters["label"] {
		key, value, valued := strings.Cut(label, "=")
		if have, there := n.Labels[key]; !there || valued && have != value {
			return false
		}
	}
	return true
}

// container finds a container by name or id; nil is none.
func (e *engine) container(name string) *noted {
	for _, c := range e.containers {
		if c.Name == name || c.ID == name {
			return c
		}
	}
	return nil
}

func (e *engine) serveContainers(mux *http.ServeMux) {
	find := func(do func(http.ResponseWriter, *noted)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			c := e.container(r.PathValue("id"))
			if c == nil {
				fail(w, http.StatusNotFound, "No such container: "+r.PathValue("id"))
				return
			}
			do(w, c)
		}
	}
	mux.HandleFunc("GET /containers/json", func(w http.ResponseWriter, r *http.Request) {
		all := []any{}
		for _, n := range slices.Sorted(maps.Keys(e.containers)) {
			if matches(r, e.containers[n]) {
				all = append(all, map[string]any{"Id": e.containers[n].ID})
			}
		}
		answer(w, all)
	})
	mux.HandleFunc("POST /containers/create", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Image      string
			Labels     map[string]string
			Cmd, Env   []string
			HostConfig map[string]any
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		name := r.URL.Query().Get("name")
		if e.containers[name] != nil {
			fail(w, http.StatusConflict, "the name is taken")
			return
		}
		e.made++
		id := fmt.Sprintf("%064x", e.made)
		e.containers[name] = &noted{ID: id, Name: name, Labels: body.Labels, Image: body.Image,
			made: e.images[body.Image].id(), State: "created",
			Ports: body.HostConfig["PortBindings"],
			Cmd:   body.Cmd, Env: body.Env, Host: body.HostConfig}
		w.WriteHeader(http.StatusCreated)
		answer(w, map[string]any{"Id": id})
	})
	mux.HandleFunc("POST /containers/{id}/rename", func(w http.ResponseWriter, r *http.Request) {
		c, to := e.container(r.PathValue("id")), r.URL.Query().Get("name")
		if e.containers[to] != nil {
			fail(w, http.StatusConflict, "the name is taken")
			return
		}
		delete(e.containers, c.Name)
		c.Name, e.containers[to] = to, c
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /containers/{id}/json", find(func(w http.ResponseWriter, c *noted) {
		answer(w, map[string]any{"Id": c.ID, "Name": "/" + c.Name,
			"Image": c.made,
			"State": map[string]any{"Status": c.State},
			"Config": map[string]any{"Labels": c.Labels, "Image": c.Image, "Cmd": c.Cmd,
				"Env": c.Env},
			"HostConfig":      c.Host,
			"NetworkSettings": map[string]any{"Ports": c.Ports}})
	}))
	mux.HandleFunc("POST /containers/{id}/start", find(func(w http.ResponseWriter, c *noted) {
		if e.forbids != "" {
			fail(w, http.StatusInternalServerError, e.forbids)
			return
		}
		if why := e.refuses[c.Name]; why != "" && c.State == "created" {
			fail(w, http.StatusInternalServerError, why)
			return
		}
		c.State = "running"
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("POST /containers/{id}/stop", func(w http.ResponseWriter, r *http.Request) {
		c := e.container(r.PathValue("id"))
		if c == nil {
			fail(w, http.StatusNotFound, "No such container: "+r.PathValue("id"))
			return
		}
		if e.stopping != nil { // as with Docker, it ends also when its client has left
			e.mu.Unlock()
			e.stopping(r.Context().Done())
			e.mu.Lock()
		}
		c.State = "exited"
		if e.stopped != nil {
			e.stopped()
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /containers/{id}/update", func(w http.ResponseWriter, r *http.Request) {
		c, body := e.container(r.PathValue("id")), map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&body); c == nil || err != nil {
			fail(w, http.StatusNotFound, "No such container")
			return
		}
		c.Host["PidsLimit"] = body["PidsLimit"]
		answer(w, map[string]any{})
	})
	mux.HandleFunc("DELETE /containers/{id}", find(func(w http.ResponseWriter, c *noted) {
		delete(e.containers, c.Name)
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("POST /containers/{id}/exec", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Cmd []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		e.execs = append(e.execs, append([]string{r.PathValue("id")}, body.Cmd...))
		answer(w, map[string]string{"Id": r.PathValue("id")})
	})
	mux.HandleFunc("POST /exec/{id}/start", func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: "+
			"tcp\r\n\r\n")
		_, _ = io.Copy(io.Discard, buffered) // until its input ends
	})
	mux.HandleFunc("GET /exec/{id}/json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"Running": false, "ExitCode": e.exit})
	})
	mux.HandleFunc("GET /containers/{id}/logs", find(func(w http.ResponseWriter, c *noted) {
		if !strings.HasSuffix(c.Name, "-check") {
			return
		}
		e.looks++
		text := cmp.Or(e.says, "version 4.2.0\n")
		_, _ = w.Write(binary.BigEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(len(text))))
		_, _ = io.WriteString(w, text)
	}))
}

func (e *engine) serveImages(mux *http.ServeMux) {
	mux.HandleFunc("GET /images/json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, []any{})
	})
	mux.HandleFunc("GET /images/{name...}", func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimSuffix(r.PathValue("name"), "/json")
		if name == "get" {
			name := r.URL.Query().Get("names")
			i, _ := e.find(name)
			_, _ = fmt.Fprintf(w, "%s %s %v", i.ref, i.version, name == i.ref)
			return
		}
		i, there := e.find(name)
		if !there {
			fail(w, http.StatusNotFound, "No such image: "+name)
			return
		}
		answer(w, i.inspected())
	})
	mux.HandleFunc("POST /images/load", func(w http.ResponseWriter, r *http.Request) {
		i, named := fakeImage{local: true, store: e.store}, false
		if _, err := fmt.Fscan(r.Body, &i.ref, &i.version, &named); err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		if e.old[i.id()] = i; !named {
			answer(w, map[string]string{"stream": "Loaded image ID: " + i.id()})
			return
		}
		e.put(i)
		answer(w, map[string]string{"stream": "Loaded image: " + i.ref})
	})
	mux.HandleFunc("POST /images/create", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("fromSrc") != "" {
			_, _ = io.Copy(io.Discard, r.Body)
			e.put(fakeImage{ref: q.Get("repo"), version: "1", local: true})
			return
		}
		// "name" and a tag or a digest
		for ref, version := range e.registry {
			name, tag, _ := strings.Cut(ref, ":")
			if name == familiar(q.Get("fromImage")) &&
				(q.Get("tag") == tag || q.Get("tag") == digest(ref, version)) {
				i := fakeImage{ref: ref, version: version, store: e.store}
				if e.old[i.id()] = i; q.Get("tag") == tag {
					e.put(i)
				}
				return
			}
		}
		fail(w, http.StatusNotFound, "manifest unknown")
	})
	mux.HandleFunc("POST /images/{name...}", func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimSuffix(r.PathValue("name"), "/tag")
		i, there := e.find(familiar(name))
		if !there {
			fail(w, http.StatusNotFound, "No such image")
			return
		}
		i.ref = familiar(r.URL.Query().Get("repo")) + ":" + r.URL.Query().Get("tag")
		e.put(i)
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("DELETE /images/{name...}", func(w http.ResponseWriter, r *http.Request) {
		delete(e.images, r.PathValue("name"))
		answer(w, []any{})
	})
	mux.HandleFunc("GET /distribution/{name...}", func(w http.ResponseWriter, r *http.Request) {
		e.asked++
		ref := strings.TrimSuffix(r.PathValue("name"), "/json")
		version, there := e.registry[ref]
		if !there {
			fail(w, http.StatusNotFound, "manifest unknown")
			return
		}
		answer(w, map[string]any{"Descriptor": map[string]any{"digest": digest(ref, version)},
			"Platforms": []any{}})
	})
}

// serveNamed serves networks or volumes.
func (e *engine) serveNamed(
	mux *http.ServeMux, kind string, all map[string]*noted, list func([]any) any,
) {
	mux.HandleFunc("GET /"+kind, func(w http.ResponseWriter, r *http.Request) {
		found := []any{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if matches(r, all[name]) {
				found = append(found, map[string]any{"Id": name, "Name": name,
					"Labels": all[name].Labels})
			}
		}
		answer(w, list(found))
	})
	mux.HandleFunc("POST /"+kind+"/create", func(w http.ResponseWriter, r *http.Request) {
		var n noted
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		all[n.Name] = &n
		w.WriteHeader(http.StatusCreated)
		answer(w, map[string]any{"Id": n.Name, "Name": n.Name})
	})
	mux.HandleFunc("POST /"+kind+"/{name}/connect", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("DELETE /"+kind+"/{name}", func(w http.ResponseWriter, r *http.Request) {
		delete(all, r.PathValue("name"))
		w.WriteHeader(http.StatusNoContent)
	})
}

// runs reports whether a container runs.
func (e *engine) runs(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, there := e.containers[name]
	return there && c.State == "running"
}

// left names everything that is there, but for images.
func (e *engine) left() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return fmt.Sprint(slices.Sorted(maps.Keys(e.containers)), slices.Sorted(maps.Keys(e.networks)),
		slices.Sorted(maps.Keys(e.volumes)))
}

// changed returns how many requests so far were to change something.
func (e *engine) changed() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes
}

package monitor

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
)

//go:embed templates
var templates embed.FS

// pageTemplate is the templates of one page: the frame with the page's own parts in it.
type pageTemplate struct{ *template.Template }

// parseTemplates reads the templates; a fault in one shows with the first test.
func parseTemplates() map[string]pageTemplate {
	base := template.Must(template.New("").Funcs(templateFuncs).ParseFS(templates,
		"templates/frame.html",
		"templates/parts.html", "templates/curve.html"))
	all := map[string]pageTemplate{}
	for _, name := range []string{"sweeps", "sweep", "compare", "plots", "task", "tasks", "workers", "login", "confirm",
		"fault"} {
		all[name] = pageTemplate{template.Must(template.Must(base.Clone()).ParseFS(templates,
			"templates/"+name+".html"))}
	}
	return all
}

// content is what a page shows.
type content struct {
	title    string
	view     any
	warnings []string // of the master
	asOf     time.Time
	// when it is different though nobody tells of a change; 0: never
	refresh time.Duration
}

// frame is what templates see: what is around every page, and its view.
type frame struct {
	Title, Page string
	Base        string // what paths begin with
	Assets      string // and those of assets
	Role        string
	Live        string // URL of the stream of a page that renews itself
	Reload      bool   // it has to be loaded as a whole to be renewed
	At          time.Time
	Warnings    []string // of the master
	View        any
	Blocks      []block

	refresh time.Duration
}

// load returns a page without its blocks.
func (m *Monitor) load(r *request, p page) (frame, error) {
	c, err := p.load(m, r)
	if err != nil {
		return frame{}, err
	}
	return m.around(r, frame{Page: p.name, Title: c.title, View: c.view, Warnings: c.warnings,
		At: c.asOf, refresh: c.refresh}), nil
}

// show answers with a whole page.
func (m *Monitor) show(w http.ResponseWriter, r *request, p page) error {
	f, err := m.load(r, p)
	live := m.o.Prefix + "/live" + m.path(r) + search(r)
	if err != nil && isUnreachable(err) {
		w.Header().Set("Retry-After", "5")
		return m.render(w, r, http.StatusServiceUnavailable, "fault", frame{Page: p.name,
			Live: live, Title: "The master is away", Reload: true, View: problem(err),
			At: m.o.Now()})
	} else if err != nil {
		return err
	}
	f.Live = live
	if f.Blocks, err = m.blocks(p, f); err != nil {
		return err
	}
	return m.render(w, r, http.StatusOK, p.name, f)
}

// path returns the path of a request below the prefix.
func (m *Monitor) path(r *request) string {
	below := url.URL{Path: strings.TrimPrefix(r.URL.Path, m.o.Prefix)}
	return below.EscapedPath()
}

func search(r *request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

func (m *Monitor) around(r *request, f frame) frame {
	f.Base, f.Assets = m.o.Prefix, m.o.Prefix+"/assets"
	if r.session != nil {
		f.Role = r.role().String()
	}
	return f
}

// render answers with a page in its frame. It executes the template as a whole before, so that an
// error leaves no half page.
func (m *Monitor) render(w http.ResponseWriter, r *request, status int, name string,
	f frame) error {
	var b bytes.Buffer
	if err := m.templates[name].ExecuteTemplate(&b, "frame", m.around(r, f)); err != nil {
		return err
	}
	send(w, r, status, "text/html; charset=utf-8", b.Bytes())
	return nil
}

// fault is an error as users see it.
type fault struct {
	status int
	Text   string
	Remedy string
}

func (f *fault) Error() string { return f.Text + " " + f.Remedy }

var (
	errNotLoggedIn   = errors.New("not logged in")
	errMasterTimeout = errors.New("the master did not answer in " + seconds(queryTimeout))
)

// isUnreachable reports whether the master did not or could not answer: neither the request nor the
// monitor is at fault.
func isUnreachable(err error) bool {
	e, refused := errors.AsType[*api.Error](err)
	_, told := errors.AsType[*fault](err)
	return !told && (!refused || e.Status >= http.StatusInternalServerError)
}

// unreachableText returns why the master does not answer.
func unreachableText(err error) string {
	return human.Visible(cmp.Or(problem(err).Text, err.Error()))
}

// problem returns the fault that is shown for an error.
func problem(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if e, ok := errors.AsType[*api.Unreachable](err); ok {
		return &fault{http.StatusServiceUnavailable, "The master cannot be reached: " + e.Reason +
			".",
			e.Remedy + "."}
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return &fault{e.Status, e.Text, e.Remedy}
	}
	if errors.Is(err, context.Canceled) {
		return &fault{http.StatusServiceUnavailable, "The monitor stops.", ""}
	}
	return &fault{http.StatusServiceUnavailable, "The master does not answer: " + err.Error() + ".",
		"Its log may say why."}
}

// fail answers with an error: as a page, or as a line of text for live streams.
func (m *Monitor) fail(w http.ResponseWriter, r *request, err error) {
	path := m.path(r)
	whole := !strings.HasPrefix(path, "/live/")
	if err == errNotLoggedIn && whole && r.Method == http.MethodGet {
		m.redirect(w, "/login?"+url.Values{"next": {path + search(r)}}.Encode())
		return
	}
	f := problem(err)
	if err == errNotLoggedIn {
		f = &fault{http.StatusUnauthorized, "You are not logged in.", "Log in and repeat it."}
	}
	if !whole {
		_ = plain(w, f.status, f.Text)
		return
	}
	page := frame{Title: http.StatusText(f.status), View: f, At: m.o.Now()}
	// the warning may be about what is not found
	if _, answered := errors.AsType[*api.Error](err); answered {
		page.Warnings = m.warned(r, &content{}).warnings
	}
	if err := m.render(w, r, f.status, "fault", page); err != nil {
		m.o.Log.Error("render a page", "cause", err)
		_ = plain(w, http.StatusInternalServerError, f.Text)
	}
}

func (m *Monitor) notFound(w http.ResponseWriter, hr *http.Request) {
	r := &request{Request: hr, session: m.sessions.find(m.sessionID(hr))}
	_ = m.render(w, r, http.StatusNotFound, "fault",
		frame{Title: "Not found", View: &fault{Text: "There is no such page here."}, At: m.o.Now()})
}

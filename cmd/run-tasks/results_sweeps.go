package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// overSweeps reports whether the options select several sweeps.
func (o resultsOptions) overSweeps() bool {
	return o.all || len(o.sweeps) > 1 || len(o.sweeps) == 1 && isPattern(o.sweeps[0])
}

func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// selectSweeps returns the sweeps that names, patterns and --all select, the oldest first. The name
// of a definition selects its newest sweep, and with --all all of them.
func (o resultsOptions) selectSweeps(all []core.Summary) (chosen []core.Summary, err error) {
	if len(all) == 0 {
		return nil, noSweep()
	}
	wanted := map[string]bool{}
	names := o.sweeps
	if len(names) == 0 { // --all alone
		names = []string{all[len(all)-1].Definition}
	}
	for _, name := range names {
		var found []string
		for _, s := range slices.Backward(all) {
			matches := s.ID == name || s.Definition == name && (o.all || len(found) == 0)
			if isPattern(name) {
				if matches, err = path.Match(name, s.ID); err != nil {
					return nil, cli.Wrong("write 'train-*', for example",
						"%s is not a pattern of names", name)
				}
			}
			if matches {
				found = append(found, s.ID)
				wanted[s.ID] = true
			}
		}
		if len(found) == 0 {
			return nil, cli.Wrong("run-tasks ls lists them", "there is no sweep %s", name)
		}
	}
	for _, s := range all {
		if wanted[s.ID] {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// mergedResults are the results of several sweeps: of each combination the task that counts, which
// is the newest that succeeded, or else the newest.
type mergedResults struct {
	rows   []table.Row
	at     map[string]int // in rows, by combination
	schema table.Schema
	newest core.Record // whose objective and repeats count
	others int         // tasks that do not count
	typed  []string    // the commands of sweeps that were submitted with one, each once
}

// add adds a task of a sweep that is newer than those before. Sweeps of different commands have no
// combination in common. Tasks of a sweep with a task for each worker are no combinations: all of
// them count.
func (m *mergedResults) add(r *table.Row, of core.Record) {
	key := r.Definition + combinationKey(r)
	switch {
	case of.EachWorker:
		key = r.ID
	case of.CommandLine:
		key += human.CommandLine(of.Recipe.Command)
	}
	at, known := m.at[key]
	succeeded := task.Succeeded.String()
	switch {
	case !known:
		m.at[key] = len(m.rows)
		m.rows = append(m.rows, *r)
		return
	case r.State == succeeded || m.rows[at].State != succeeded:
		m.rows[at] = *r
	}
	m.others++
}

// combinationKey is the same for tasks with the same parameters, in any order.
func combinationKey(r *table.Row) string {
	parameters := slices.Clone(r.Parameters)
	slices.SortFunc(parameters, func(a, b table.Parameter) int {
		return strings.Compare(a.Name, b.Name)
	})
	text, _ := parameters.MarshalJSON() // it has no error
	return string(text)
}

// merge reads the results of sweeps, the oldest first.
func merge(ctx context.Context, src source, sweeps []core.Summary) (*mergedResults, error) {
	m := &mergedResults{at: map[string]int{}}
	for _, one := range sweeps {
		s, err := src.Sweep(ctx, one.ID, false)
		if err != nil {
			return nil, err
		}
		m.newest = s.Record
		command := human.CommandLine(s.Record.Recipe.Command)
		if s.Record.CommandLine && !slices.Contains(m.typed, command) {
			m.typed = append(m.typed, command)
		}
		schema := s.Record.Schema()
		m.schema = m.schema.With([]table.Row{schemaRow(schema)})
		err = src.Rows(ctx, s.ID, api.Query{Issued: true}, func(r *table.Row) error {
			row := *r
			row.Parameters, row.Metrics = slices.Clone(r.Parameters), slices.Clone(r.Metrics)
			m.add(&row, s.Record)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	m.schema = m.schema.With(m.rows)
	return m, nil
}

// schemaRow is a row that has all columns of a schema.
func schemaRow(s table.Schema) (r table.Row) {
	for _, name := range s.Parameters {
		r.Parameters = append(r.Parameters, table.Parameter{Name: name})
	}
	for _, name := range s.Metrics {
		r.Metrics = append(r.Metrics, metric.FinalValue{Name: name})
	}
	return r
}

// filter leaves the rows that match an expression.
func (m *mergedResults) filter(where string) error {
	if where == "" {
		return nil
	}
	f, err := table.ParseFilter(where, m.schema)
	if err != nil {
		return api.Wrong("where", err.Error())
	}
	m.rows = slices.DeleteFunc(m.rows, func(r table.Row) bool { return !f.Match(&r) })
	return nil
}

// order sorts the rows by a column, or "" ranks them.
func (m *mergedResults) order(by string, top int) error {
	sorter := table.NewRanking(m.newest.Objective)
	if by != "" {
		var err error
		if sorter, err = table.NewSorter(m.schema, by); err != nil {
			return api.Wrong("sort", err.Error())
		}
	}
	for i := range m.rows {
		sorter.Add(&m.rows[i], int64(i))
	}
	var sorted []table.Row
	for _, i := range sorter.Sorted() {
		sorted = append(sorted, m.rows[i])
	}
	if m.rows = sorted; top > 0 {
		m.rows = sorted[:min(top, len(sorted))]
	}
	return nil
}

// runOver prints the results of several sweeps as one table.
func (o resultsOptions) runOver(ctx context.Context, src source, t *terminal) error {
	all, err := src.Sweeps(ctx, "", 0)
	if err != nil {
		return err
	}
	sweeps, err := o.selectSweeps(all)
	if err != nil {
		return err
	}
	m, err := merge(ctx, src, sweeps)
	if err != nil {
		return err
	}
	if m.others > 0 {
		t.note(fmt.Sprintf("%s: of combinations that ran in several of them, the newest success "+
			"counts (%s left out)", human.Plural(int64(len(sweeps)), "sweep"),
			human.Plural(int64(m.others), "task")))
	}
	if len(m.typed) > 1 {
		t.note("the sweeps ran different commands: " + human.ListFirst(m.typed))
	}
	if err := m.filter(o.query.Where); err != nil {
		return err
	}
	newest := sweeps[len(sweeps)-1].ID
	if q, ok := o.groups.query(api.Sweep{Summary: core.Summary{ID: newest}, Record: m.newest}); ok {
		q.Query = o.query
		return o.writeMergedGroups(t, newest, m, q)
	}
	if len(o.groups.metrics) > 0 {
		return cli.Wrong("", "--metrics is for groups: add --group-by COLUMN,...")
	}
	if o.query.Sort == "" && o.query.Top > 0 && m.newest.Objective.IsZero() {
		t.note(newest + " has no objective: --top shows the first tasks by their numbers; " +
			"--sort COLUMN orders them")
	}
	if err := m.order(o.query.Sort, o.query.Top); err != nil {
		return err
	}
	switch {
	case o.format == api.CSV:
		w := table.NewCSVWriter(t.stdout, m.schema)
		for i := range m.rows {
			if err := w.Write(&m.rows[i]); err != nil {
				return err
			}
		}
		return w.Flush()
	case o.format == api.JSON:
		return table.WriteJSON(t.stdout, m.rows)
	case len(m.rows) == 0:
		fmt.Fprintln(t.stdout, "no task to show")
		return nil
	}
	return table.WriteText(t.stdout, m.rows, table.TableOptions{Width: display.Width(t.stdout),
		Objective: m.newest.Objective, Schema: m.schema, Location: timeZone()})
}

// writeMergedGroups prints means over the results of several sweeps.
func (o resultsOptions) writeMergedGroups(t *terminal, newest string, m *mergedResults,
	q api.GroupQuery) error {
	grouper, err := q.Grouper(newest, m.newest, m.schema)
	for i := range m.rows {
		if err == nil {
			err = grouper.Add(&m.rows[i])
		}
	}
	var page api.GroupPage
	if err == nil {
		page, err = q.Page(grouper)
	}
	switch {
	case err != nil:
		return api.WrongGroups(err)
	case o.format == api.CSV:
		return page.WriteCSV(t.stdout)
	case o.format == api.JSON:
		return page.WriteJSON(t.stdout)
	case len(page.Groups) == 0:
		fmt.Fprintln(t.stdout, "no task to show")
		return nil
	}
	return page.WriteText(t.stdout, display.Width(t.stdout))
}

package plan_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"mlframework/infra/plan"
)

// needs are the steps of all plans of this package's tests, and what they name as needs, each
// without its host.
type needs struct {
	mu     sync.Mutex
	steps  map[string]bool
	needed map[string]string // by what is needed: a step that names it
}

var named = needs{steps: map[string]bool{}, needed: map[string]string{}}

func (n *needs) add(steps []plan.Step) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range steps {
		_, what, _ := strings.Cut(s.ID, "/")
		n.steps[what] = true
		for _, need := range s.Needs {
			// "" is no host: nothing is needed
			if host, what, _ := strings.Cut(need, "/"); host != "" {
				n.needed[what] = s.ID
			}
		}
	}
}

// TestMain checks, when all tests have run, that whatever a step names as its need is a step of
// some plan: a plan drops needs that it does not have, and so would drop one that is misspelt.
func TestMain(m *testing.M) {
	code := m.Run()
	all := flag.Lookup("test.run").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == ""
	for _, what := range slices.Sorted(maps.Keys(named.needed)) {
		if all && !named.steps[what] {
			fmt.Printf("%s needs %q, which is no step of any plan\n", named.needed[what], what)
			code = 1
		}
	}
	os.Exit(code)
}

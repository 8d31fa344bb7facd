package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"

	"mlframework/infra/layout"
)

// version is what scripts/install stamps: a tag, and the commits since then.
var version = regexp.MustCompile(
	`^v(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-(\d{1,9})-g[0-9a-f]+)?(?:\+changes)?$`)

// CompareVersions orders versions of the program as their commits: it returns -1, 0 or 1, as a is
// older than b, as old, or newer. known is false where one of them has no order, as that of a
// program that was built without the scripts.
func CompareVersions(a, b string) (order int, known bool) {
	one, other := version.FindStringSubmatch(a), version.FindStringSubmatch(b)
	if one == nil || other == nil {
		return 0, false
	}
	for i := range one[1:] {
		x, _ := strconv.Atoi(one[i+1]) // "" is 0, and more than digits it is not
		y, _ := strconv.Atoi(other[i+1])
		if x != y {
			return cmp.Compare(x, y), true
		}
	}
	return 0, true
}

// CheckVersions finds that the cluster's master has a store that the wanted program cannot read, or
// that the cluster runs a newer program than the one that would replace it.
func CheckVersions(c Cluster, old layout.Record) Problems {
	order, known := CompareVersions(old.Program, c.Program)
	store := "the store of its cluster " + c.Name + " was made by a "
	p := Problem{Host: c.Master}
	switch {
	case c.Adds || old.Version == 0:
		return nil
	case old.Schema < c.Schema:
		p.What = store + "program before 0.1.0"
		p.Remedy = "export its results with that program (run-tasks results --csv SWEEP), remove " +
			"the cluster with infra-clean --volumes --files, and call infrainit again"
	case old.Schema > c.Schema:
		p.What, p.Remedy = store+"newer program", "update these programs"
	case !c.Downgrade && known && order > 0:
		p.What = fmt.Sprintf("its cluster %s runs %s, which is newer than this program, %s",
			c.Name, old.Program, c.Program)
		p.Remedy = "install that version here; or take the older one with --downgrade"
	default:
		return nil
	}
	return Problems{p}
}

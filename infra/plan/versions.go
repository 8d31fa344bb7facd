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

// CheckDowngrade finds that the cluster runs a newer program than the one that would replace it.
func CheckDowngrade(c Cluster, old layout.Record) Problems {
	order, known := CompareVersions(old.Program, c.Program)
	if c.Downgrade || c.Adds || !known || order <= 0 {
		return nil
	}
	return Problems{{Host: c.Master,
		What: fmt.Sprintf("its cluster %s runs %s, which is newer than this program, %s", c.Name,
			old.Program, c.Program),
		Remedy: "install that version here; or take the older one with --downgrade, which its " +
			"store may refuse"}}
}

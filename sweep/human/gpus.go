package human

import (
	"math"
	"strconv"
	"strings"
)

// GPU cuts the UUID of a GPU (GPU-5b3c2a1f-...), or of an instance of one (MIG-...), after its
// first group, which tells the GPUs of a host apart.
func GPU(uuid string) string {
	for _, kind := range []string{"GPU-", "MIG-"} {
		if rest, ok := strings.CutPrefix(uuid, kind); ok && !strings.HasPrefix(rest, "GPU-") {
			first, _, _ := strings.Cut(rest, "-")
			return Visible(kind + first)
		}
	}
	return Visible(uuid)
}

// Share writes how many GPUs somebody has, of which one may be a part: 2, 0.5, 1.33.
func Share(gpus float64) string {
	return strconv.FormatFloat(math.Round(gpus*100)/100, 'f', -1, 64)
}

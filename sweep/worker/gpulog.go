package worker

import (
	"slices"
	"strings"

	"mlframework/sweep/human"
)

// describeGPUChanges says which GPUs attempts do not get any more, and which they get: "GPUs 0, 1
// are not given to tasks: busy: ben; GPU 3: it does not respond", "GPU 2 is available". "": none.
func describeGPUChanges(changes []gpuChange) (lost, available string) {
	var reasons []string
	numbers := map[string][]string{}
	for _, c := range changes {
		if !slices.Contains(reasons, c.reason) {
			reasons = append(reasons, c.reason)
		}
		numbers[c.reason] = append(numbers[c.reason], c.device.Number)
	}
	for _, reason := range reasons {
		text, are := gpusByNumber(numbers[reason])
		switch {
		case reason == "":
			available = text + are + "available"
		case lost == "":
			lost = text + are + "not given to tasks: " + reason
		default:
			lost += "; " + text + ": " + reason
		}
	}
	return human.Visible(lost), available
}

// gpusByNumber is "GPU 1" or "GPUs 1, 2", with the verb that follows.
func gpusByNumber(numbers []string) (text, are string) {
	if len(numbers) == 1 {
		return "GPU " + numbers[0], " is "
	}
	return "GPUs " + strings.Join(numbers, ", "), " are "
}

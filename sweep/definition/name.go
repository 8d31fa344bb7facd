package definition

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

const maxOutputName = 255 // bytes, the length of a file name on Linux

// ownVariables are set by the worker for every attempt.
var ownVariables = []string{
	"SWEEP_ID", "TASK_ID", "TASK_INDEX", "ATTEMPT", "RESUMED", "OUTPUT_DIR", "WORKER",
	"WORKER_PROCESS", "HOST", "SLOT", "SECRETS_DIR",
}

// checkDefinitionName checks the name of a definition; folded has the names before it in lower
// case.
//
// A name may not end like the id of a sweep. And as a sweep's outputs are in a folder of its id,
// names may not differ in case alone: on a Mac they would share that folder.
func (r *reader) checkDefinitionName(e entry, folded map[string]string) bool {
	name := e.Name
	other, taken := folded[strings.ToLower(name)]
	switch {
	case !task.IsDefinitionName(name):
		r.Fault(e.Key, fault.Quote(name)+" is not a valid task name",
			"begin it with a letter or _, go on with letters, digits and _ . -")
	case len(name) > task.MaxDefinitionName:
		r.Fault(e.Key, fmt.Sprintf("the name is longer than %d characters", task.MaxDefinitionName),
			"")
	case slices.Contains(r.reserved, name):
		r.Fault(e.Key, fmt.Sprintf("%q is a subcommand of run-tasks", name),
			"give the task another name")
	case task.EndsLikeSweepID(name):
		i := strings.LastIndexByte(name, '-')
		r.Fault(e.Key, fmt.Sprintf("the name ends like the id of a sweep: %q is a sweep of %q",
			name, name[:i]),
			"write "+name[:i]+"_"+name[i+1:])
	case taken:
		r.Fault(e.Key, fmt.Sprintf("the name differs from %q only in upper and lower case", other),
			"give the task another name")
	default:
		return true
	}
	return false
}

// gpuVariables are set by the worker for attempts that need GPUs.
var gpuVariables = []string{"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "GPU_UUIDS"}

// variable checks the name of a variable of the environment.
func (r *reader) variable(v value, name string) bool {
	switch {
	case !task.IsVariableName(name):
		r.Fault(v, fault.Quote(name)+" is not a valid variable name",
			"begin it with a letter or _, go on with letters, digits and _")
	case slices.Contains(ownVariables, name):
		r.Fault(v, name+" is set by the worker for every attempt", "choose another name")
	default:
		return true
	}
	return false
}

package failure

import (
	"strings"
	"time"
)

// noise is lines that stand behind the one which says why a program failed, and say less: what
// launchers, shells and runtimes add. A line is meant that begins with begin, spaces left out, and
// has has somewhere behind it.
var noise = []struct{ begin, has string }{
	// Launchers: that what they started has failed.
	{"srun: error: ", ": Exited with exit code"},
	{"srun: error: ", ": Terminated"},
	{"srun: error: ", ": Killed"},
	{"srun: Terminating ", ""},
	{"srun: launch/slurm: ", ""},
	{"srun: Job step aborted", ""},
	{"srun: Force Terminated", ""},
	{"Primary job  terminated normally", ""},
	{"a non-zero exit code. Per user-direction", ""},
	{"mpirun detected that", ""},
	{"mpiexec detected that", ""},
	{"prterun detected that", ""},
	{"the job to be terminated. The first process", ""},
	{"thus causing the job to be terminated", ""},
	{"Process name: [", ""},
	{"Exit code:    ", ""},
	{"W", " torch/distributed/elastic/"},
	{"E", " torch/distributed/elastic/"},
	{"I", " torch/distributed/elastic/"},
	{"", "torch.distributed.elastic.multiprocessing.api: ["},
	{"ERROR:torch.distributed.elastic", ""},
	{"WARNING:torch.distributed.elastic", ""},
	{"[", "[launch.py:"},
	{"ERROR conda.cli.main_run:execute", ""},
	{"make: ***", ""},
	{"make[", "]: ***"},
	{"make: Leaving directory", ""},
	{"ninja: build stopped", ""},
	{"compilation terminated.", ""},
	{"Command exited with non-zero status", ""},
	{"Command terminated by signal", ""},
	{"exit status ", ""},
	{"Shutting down, this might take some time", ""},
	{"Removing output files of failed job ", ""},
	{"Exiting because a job execution failed", ""},
	{"WorkflowError:", ""},
	{"At least one job did not complete successfully", ""},

	// Runtimes: where to look further, and what they meet while they end.
	{"Set the environment variable HYDRA_FULL_ERROR", ""},
	{"full_key: ", ""},
	{"object_type=", ""},
	{"reference_type=", ""},
	{"note: run with `RUST_BACKTRACE", ""},
	{"note: Some details are omitted, run with `RUST_BACKTRACE", ""},
	{"stack backtrace:", ""},
	{"Stack trace:", ""},
	{"[bt] (", ") "},
	{"Execution halted", ""},
	{"Calls: ", ""},
	{"in expression starting at", ""},
	{"Stacktrace:", ""},
	{"Node.js v", ""},
	{"Extension modules: ", ""},
	{"Current thread 0x", ""},
	{"Thread 0x", " (most recent call first):"},
	{"<no Python frame>", ""},
	{"<omitting python frames>", ""},
	{"Exception raised from ", "(most recent call first)"},
	{"frame #", ": "},
	{"Stack (most recent call last):", ""},
	{"Sentry is attempting to send", ""},
	{"wandb: ", ""},
	{"Set TORCH_LOGS=", ""},
	{"from user code:", ""},
	{"You can suppress this exception and fall back to eager", ""},
	{"import torch._dynamo", ""},
	{"torch._dynamo.config.suppress_errors", ""},
	{"Compile with `TORCH_USE_CUDA_DSA`", ""},
	{"For debugging consider passing CUDA_LAUNCH_BLOCKING", ""},
	{"CUDA kernel errors might be asynchronously reported", ""},
	{"Search for `cudaError", ""},
	{"For simplicity, JAX has removed its internal frames", ""},
	{"The stack trace below excludes JAX-internal frames.", ""},
	{"The preceding is the original exception that occurred", ""},
	{"", "destroy_process_group() was not called"},
	{"", "leaked semaphore objects to clean up at shutdown"},
	{"", "leaked shared_memory objects to clean up at shutdown"},
	{"warnings.warn(", ""},
	{"Exception ignored ", ""},
	{"During handling of the above exception, another", ""},
	{"The above exception was the direct cause of the following", ""},
	{"[Previous line repeated ", " more times]"},

	// Frames of stack traces.
	{"at ", "("},
	{"at ", "/"},
	{"... ", " more"},
	{"@ ", ":"},
}

// isNoise reports whether a line says nothing of why its program failed.
func isNoise(line string) bool {
	text := strings.TrimLeft(line, " ")
	if isRuler(text) || isProgress(text) || isWarning(text) || isFrame(line) || isTime(text) {
		return true
	}
	// [1] f(x) of a stack trace in Julia, 3: main of one in Rust
	if text != line && isNumbered(text) {
		return true
	}
	for _, n := range noise {
		if rest, ok := strings.CutPrefix(text, n.begin); ok && strings.Contains(rest, n.has) {
			return true
		}
	}
	return isTimes(text)
}

// isRuler reports whether a line has nothing but signs: a blank line, carets below source, a ruler,
// a bracket.
func isRuler(text string) bool {
	for _, r := range text {
		if !strings.ContainsRune(" -=*#_~+|^.<>(){}[]│─━═╭╰╮╯", r) {
			return isCounted(text)
		}
	}
	return true
}

// isCounted reports whether a line is a ruler with a number, as between the parts of a group of
// exceptions.
func isCounted(text string) bool {
	return strings.HasPrefix(text, "+-") && strings.HasSuffix(text, "---") &&
		strings.Trim(text, "+- 0123456789") == ""
}

// isProgress reports whether a line is a progress bar: of tqdm, " 45%|████▌ | 45/100 [00:01<00:01,
// 43.52it/s]" and "45it [00:01, 43.52it/s]", and what draws with the same signs.
func isProgress(text string) bool {
	if percent := strings.Index(text, "%|"); percent >= 0 &&
		strings.Contains(text[percent+2:], "|") {
		return true
	}
	if strings.HasSuffix(text, "]") && strings.Contains(text, "[") {
		if strings.Contains(text, "it/s") || strings.Contains(text, "s/it") ||
			strings.Contains(text, "B/s") {
			return true
		}
	}
	return strings.Contains(text, "████") || strings.Contains(text, "━━━━") ||
		strings.Contains(text, "[====")
}

// isWarning reports whether a line is a warning of Python's: "/x/y.py:12: UserWarning: ...", or of
// a library in C++ that prints as torch does.
func isWarning(text string) bool {
	before, after, found := strings.Cut(text, "Warning: ")
	if !found || after == "" {
		return false
	}
	return strings.Contains(before, ".py:") || strings.Contains(before, ".cpp:")
}

// isFrame reports whether a line is one of a Python traceback: "  File "x.py", line 3, in f".
func isFrame(line string) bool {
	text := strings.TrimLeft(line, " ")
	return text != line && strings.HasPrefix(text, `File "`) && strings.Contains(text, `, line `)
}

// isNumbered reports whether a text begins as "[12] " or "12: " does.
func isNumbered(text string) bool {
	digits := strings.TrimLeft(strings.TrimPrefix(text, "["), "0123456789")
	if text[0] == '[' {
		return len(digits) < len(text)-1 && strings.HasPrefix(digits, "] ")
	}
	return len(digits) < len(text) && strings.HasPrefix(digits, ": ")
}

// isJobNote reports whether a line is a shell's, of a program that crashed: "bash: line 1: 2196
// Aborted (core dumped) ./train".
func isJobNote(line string) bool {
	if _, rest, ok := strings.Cut(line, ": line "); ok {
		_, rest, _ = strings.Cut(rest, ":")
		line = strings.TrimLeft(rest, " 0123456789")
	}
	for _, note := range []string{"Aborted", "Segmentation fault", "Bus error",
		"Illegal instruction", "Floating point exception"} {
		if strings.HasPrefix(line, note) {
			return true
		}
	}
	return false
}

// isTime reports whether a line is only a time: "[Sat Nov 28 12:00:01 2026]".
func isTime(text string) bool {
	_, err := time.Parse("["+time.ANSIC+"]", text)
	return err == nil
}

// isTimes reports whether a line is of the shell's time: "real 0m1.5s".
func isTimes(text string) bool {
	name, rest, _ := strings.Cut(text, " ")
	return (name == "real" || name == "user" || name == "sys") && strings.HasSuffix(rest, "s") &&
		strings.Trim(rest, " 0123456789.,m") == "s"
}

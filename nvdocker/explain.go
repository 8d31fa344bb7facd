package nvdocker

import (
	"regexp"
)

// explanations are the errors that people meet, the special before the general. The texts are those
// of nvidia-smi, of the NVIDIA container toolkit, of Docker and of CUDA.
var explanations = []struct {
	text          *regexp.Regexp
	cause, remedy string
}{
	{regexp.MustCompile(`(?i)driver/library version mismatch|API mismatch: client version`),
		"the NVIDIA driver was updated while its former version runs in the kernel",
		"reboot the host (or unload nvidia_uvm, nvidia_drm, nvidia_modeset and nvidia, and load " +
			"them again)"},
	{regexp.MustCompile(
		`(?i)nvidia-container-cli: initialization error: .*(driver not loaded|load library failed)`),
		"the NVIDIA driver is not loaded",
		"look whether nvidia-smi works on the host: install the driver, or reboot after a change " +
			"of the kernel"},
	{regexp.MustCompile(`(?i)nvidia-container-cli: .*(unknown device|device error)`),
		"the container asks for a GPU that the driver does not have now",
		"compare its UUID with nvidia-smi -L: a GPU that was split, or lost, has none or another"},
	{regexp.MustCompile(
		`(?i)nvidia-container-cli: requirement error|unsatisfied condition: cuda|unsupported display driver / cuda driver combination|CUDA driver version is insufficient`),
		"the image needs a newer CUDA than the driver of this host can run",
		"update the driver, or take an image for an older CUDA (nvidia-smi shows at its top what " +
			"the driver can run)"},
	{regexp.MustCompile(`(?i)nvidia-container-cli: initialization error`),
		"the NVIDIA container toolkit cannot use the driver",
		"look whether nvidia-smi works on the host, and then run nvdocker-install for it"},
	{regexp.MustCompile(
		`(?i)nvidia-container-cli: .*(mount error|ldcache error|permission denied|bpf_prog_query|device cgroup)`),
		"the NVIDIA container toolkit cannot put the GPU into the container",
		"update it (sudo apt-get install --only-upgrade nvidia-container-toolkit), or hand GPUs " +
			"out by CDI: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"},
	{regexp.MustCompile(`(?i)could not select device driver "?cdi"?`),
		"Docker does not hand out devices by CDI",
		`update Docker to 28.2, or put "features": {"cdi": true} into /etc/docker/daemon.json and restart it`},
	{regexp.MustCompile(`(?i)could not select device driver .* with capabilities: \[\[.*gpu`),
		"Docker found no NVIDIA container toolkit when it started",
		"run nvdocker-install for the host, or restart Docker if the toolkit is newer than its " +
			"start; the Docker of Ubuntu's snap never finds it: install Docker from a package " +
			"instead"},
	{regexp.MustCompile(
		`(?i)(unresolvable CDI devices?|CDI device injection failed|failed to inject CDI devices)`),
		"the GPU is not in the host's CDI specification",
		"regenerate it: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"},
	{regexp.MustCompile(
		`(?i)unknown or invalid runtime name: nvidia|Unknown runtime specified nvidia`),
		"Docker knows no runtime nvidia",
		"run nvdocker-install for the host (or: sudo nvidia-ctk runtime configure " +
			"--runtime=docker, and restart Docker)"},
	{regexp.MustCompile(`(?i)failed to initialize NVML: unknown error`),
		"the container has lost its GPUs: the system took its devices away, as systemd does when " +
			"it is reloaded (systemctl daemon-reload)",
		"make the container anew; handed out by CDI, GPUs stay"},
	{regexp.MustCompile(`(?i)failed to initialize NVML: insufficient permissions`),
		"this user may not use the GPUs", "look at the mode and the group of /dev/nvidia*"},
	{regexp.MustCompile(`(?i)(gpu has fallen off the bus|gpu is lost)`),
		"a GPU has fallen off the bus",
		"reboot the host; if it comes again look at power, heat and seat of the card"},
	{regexp.MustCompile(`(?i)gpu requires reset`),
		"a GPU needs a reset", "end its programs and run sudo nvidia-smi --gpu-reset -i INDEX, " +
			"or reboot the host"},
	{regexp.MustCompile(`(?i)unable to determine the device handle`),
		"a GPU does not answer the driver",
		"look for Xid in the kernel's log (dmesg | grep Xid), and reboot the host"},
	{regexp.MustCompile(
		`(?i)couldn'?t communicate with the NVIDIA driver|failed to initialize NVML: driver not loaded|nvml error: driver not loaded`),
		"the NVIDIA driver is not loaded",
		"load it (sudo modprobe nvidia); after a change of the kernel install the driver's " +
			"module for it, and reboot; with Secure Boot on the module has to be signed"},
	{regexp.MustCompile(`(?i)No devices were found`),
		"the NVIDIA driver runs and finds no GPU",
		"look at dmesg | grep NVRM: the driver may be too old or too new for the card, or the " +
			"card is not powered"},
	{regexp.MustCompile(`(?i)no CUDA-capable device is detected|no CUDA GPUs are available`),
		"the program sees no GPU",
		"look at CUDA_VISIBLE_DEVICES: it has to name a GPU of this host, and is not empty"},
	{regexp.MustCompile(`(?i)error 802\b|system not yet initialized`),
		"the GPUs of this host work together by NVSwitch, and its fabric manager does not run",
		"install nvidia-fabricmanager in the version of the driver, and start it: sudo systemctl " +
			"enable --now nvidia-fabricmanager"},
	{regexp.MustCompile(
		`(?i)couldn'?t find libnvidia-ml|NVIDIA-SMI couldn't find|libnvidia-ml\.so.*(no such file|not found)`),
		"the library of the NVIDIA driver (libnvidia-ml.so) is not there",
		"install the driver's packages anew; in a container: it was started without GPUs"},
	{regexp.MustCompile(
		`(?i)required key not available|module verification failed.*nvidia|Key was rejected by service`),
		"Secure Boot keeps the NVIDIA driver from being loaded",
		"sign its module (Ubuntu and Debian: mokutil --import the key of DKMS, and reboot), or " +
			"turn Secure Boot off"},
}

// Explain finds a known error in the output of a program, and says what it means; nil: it knows
// none in it.
func Explain(text string) *Problem {
	for _, e := range explanations {
		if e.text.MatchString(text) {
			return &Problem{e.cause, e.remedy}
		}
	}
	return nil
}

package main_test

import (
	"strings"
	"testing"

	"mlframework/infra/lab"
)

// gpuSMI is a program in place of nvidia-smi, for a host with two GPUs.
var gpuSMI = smiOf("GPU-one,NVIDIA RTX A6000,49140", "GPU-two,NVIDIA RTX A6000,49140")

// smiOf returns a program in place of nvidia-smi, for a host with some GPUs: "UUID,NAME,MIB".
func smiOf(gpus ...string) string {
	return `#!/bin/sh
only=all
case "$*" in
--query-gpu=*)
	n=0
	while IFS=, read -r uuid name memory; do
		case ",$only," in
		*,all,* | *,"$uuid",*)
			echo "$n, $uuid, $name, 00000000:0$((n + 1)):00.0, 570.133.07, $memory, 4, 0, 35, Disabled, 0, [N/A]"
			n=$((n + 1))
			;;
		esac
	done <<END
` + strings.Join(gpus, "\n") + `
END
	;;
--query-compute-apps=* | -L) ;;
*) echo "| NVIDIA-SMI 570.133.07   Driver Version: 570.133.07   CUDA Version: 12.8 |" ;;
esac
`
}

// gpuHook is a program in place of the hook of NVIDIA's container toolkit, which Docker has run
// before a container that asks for GPUs: it gives it an nvidia-smi that lists these GPUs alone.
const gpuHook = `#!/bin/sh -e
config=$(sed 's/.*"bundle":"\([^"]*\)".*/\1/')/config.json
root=$(sed 's/.*"root":{"path":"\([^"]*\)".*/\1/' "$config")
gpus=$(grep -o '"NVIDIA_VISIBLE_DEVICES=[^"]*"' "$config" | tail -n 1 | sed 's/.*=//; s/"//')
sed "s/^only=.*/only=$gpus/" /usr/local/bin/nvidia-smi >"$root/usr/bin/nvidia-smi"
chmod 755 "$root/usr/bin/nvidia-smi"
`

// program puts a program into a host's /usr/local/bin until the test ends.
func program(t testing.TB, h *lab.Host, name, text string) {
	t.Helper()
	const folder = "/usr/local/bin/"
	t.Cleanup(func() { h.Exec(t, "rm", folder+name) })
	h.Exec(t, "sh", "-ec", `printf %s "$1" >"$2"; chmod 755 "$2"`, "sh", text, folder+name)
}

// passGPUs has a host's Docker pass GPUs to containers.
func passGPUs(t testing.TB, h *lab.Host) {
	t.Helper()
	program(t, h, "nvidia-container-runtime-hook", gpuHook)
	h.Exec(t, "sh", "-ec", `pid=$(pidof dockerd)
		kill $pid
		while kill -0 $pid 2>/dev/null; do sleep 0.1; done
		lab-host ready`)
}

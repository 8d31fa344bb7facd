# Prints what a host has of NVIDIA GPUs: lines that begin with a word and a space. It changes nothing.
# $1 is how many seconds one question to the driver may take: a sick one never answers.
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/lib/wsl/lib:/usr/local/nvidia/bin
export LC_ALL PATH
limit=${1:-10}

# ask WORD COMMAND... prints each line of its output behind the word, and its exit status as "WORD= STATUS".
ask() {
	word=$1
	shift
	if command -v timeout >/dev/null 2>&1; then
		text=$(timeout -k 1 "$limit" "$@" 2>&1 </dev/null)
	else
		text=$("$@" 2>&1 </dev/null)
	fi
	code=$?
	[ -z "$text" ] || printf '%s\n' "$text" | sed "s/^/$word /"
	printf '%s= %s\n' "$word" "$code"
	return "$code"
}

for vendor in $(grep -ls 0x10de /sys/bus/pci/devices/*/vendor); do # NVIDIA's devices, of which some are sound or USB
	card=${vendor%/vendor}
	case $(cat "$card/class") in
	0x03*) printf 'card %s\n' "${card##*/}" ;;
	esac
done
[ ! -r /sys/module/nvidia/version ] || printf 'module %s\n' "$(cat /sys/module/nvidia/version)"
for known in /proc/driver/nvidia/gpus/*; do
	[ -r "$known/information" ] || continue
	minor=$(sed -n 's/^Device Minor:[^0-9]*//p' "$known/information")
	# A container may see what the driver has of all GPUs of its host, and has the devices of its own.
	[ ! -e /dev/nvidiactl ] || [ -z "$minor" ] || [ -e "/dev/nvidia$minor" ] || continue
	sed "s/^/known ${known##*/} /" "$known/information"
done

if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "missing nvidia-smi"
	echo "done yes"
	exit 0
fi
fields=index,uuid,name,pci.bus_id,driver_version,memory.total,memory.used,utilization.gpu,temperature.gpu,ecc.mode.current,ecc.errors.uncorrected.volatile.total
query() { ask gpu nvidia-smi "$@" --format=csv,noheader,nounits; }
query "--query-gpu=$fields,mig.mode.current"
code=$?
if [ "$code" -eq 2 ]; then # drivers before 450 know no MIG, and then answer nothing
	query "--query-gpu=$fields"
	code=$?
fi
if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
	echo "done yes"
	exit 0
fi
if [ "$code" -ne 0 ]; then # one GPU that does not answer may keep back all the others
	for known in /proc/driver/nvidia/gpus/*; do
		[ ! -d "$known" ] || query -i "${known##*/}" "--query-gpu=$fields,mig.mode.current"
	done
fi
ask list nvidia-smi -L
ask app nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory,process_name --format=csv,noheader,nounits
printf '%s\n' "$text" | sed -n 's/^[^,]*, *\([0-9][0-9]*\),.*/\1/p' | while read -r pid; do
	printf 'user %s %s\n' "$pid" "$(stat -c %U "/proc/$pid" 2>/dev/null)"
done
ask head nvidia-smi
echo "done yes"

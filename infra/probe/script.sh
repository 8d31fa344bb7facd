# Prints what a host has, a line for each fact: a word, a space, and the rest of the line. It changes nothing.
# Before it stand variables with the names of what may be in the folder of a cluster (names in probe.go).
# $1 is the folder of the cluster, relative to the home folder unless absolute. Others are folders whose links are followed.
LC_ALL=C
export LC_ALL
say() { printf '%s %s\n' "$1" "$2"; }

say clock "$(date +%s)"
say os "$(uname -s)"
say arch "$(uname -m)"
say user "$(id -un 2>/dev/null || id -u)"
say uid "$(id -u)"
say gid "$(id -g)"
say home "$HOME"
say homekey "$(stat -f -c %T "$HOME" 2>/dev/null) $(stat -c %i "$HOME" 2>/dev/null)"
say load "$(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
say boot "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
say cores "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)"
awk '/^MemTotal:/ { printf "memory %.0f\n", $2 * 1024 }' /proc/meminfo
say addresses "$(hostname -I 2>/dev/null)"

say client "${SSH_CONNECTION%% *}"

case $1 in
/*) root=$1 ;;
*) root=$HOME/$1 ;;
esac
say root "$root"
say realroot "$(readlink -m "$root" 2>/dev/null)"
shift
for source; do
	case $source in
	[~] | [~]/*) source=$HOME${source#[~]} ;;
	esac
	say realsource "$(readlink -m "$source" 2>/dev/null)"
	case $source in /*) ;; *) continue ;; esac
	near=$source
	while [ ! -e "$near" ] && [ "$near" != / ]; do near=$(dirname "$near"); done
	[ "$near" = "$source" ] || [ ! -x "$near" ] || say nosource "$source"
done
near=$root
while [ ! -e "$near" ] && [ "$near" != / ]; do near=$(dirname "$near"); done
[ -d "$near" ] && [ -w "$near" ] && [ -x "$near" ] || say unwritable "$near"
df -Pk "$near" 2>/dev/null | awk 'NR == 2 { printf "free %.0f\n", $4 * 1024 }'
say noexec "$(findmnt -no OPTIONS -T "$near" 2>/dev/null | tr ',' '\n' | grep -x noexec)"
[ ! -d "$root" ] || say there "$(ls -A "$root" | wc -l)"
[ ! -s "$root/$marker" ] || say marker "$(tr -d '\n' <"$root/$marker")"
say binaries "$(cd "$root/$programs" 2>/dev/null && for hash in $(ls -tr); do [ ! -x "$hash/$program" ] || echo "$hash"; done | tr '\n' ' ')"
say outputs "$(cd "$root/$hosts" 2>/dev/null && for host in *; do [ -z "$(ls "$host/$outputs" 2>/dev/null)" ] || echo "$host"; done | tr '\n' ' ')"
[ ! -L "$root/$current" ] || say revision "$(basename "$(readlink "$root/$current")")"

for table in /proc/net/tcp /proc/net/tcp6; do
	[ ! -r "$table" ] || awk '$4 == "0A" { split($2, at, ":"); print "listens " at[2] }' "$table"
done
ss -Hltnp 2>/dev/null | sed -n 's/^.*:\([0-9][0-9]*\) .*users:(("\([^"]*\)",pid=\([0-9]*\).*/holds \1 \2 (pid \3)/p'
for missing in sha256sum; do
	command -v "$missing" >/dev/null 2>&1 || say lacks "$missing"
done

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
if command -v nvidia-ctk >/dev/null 2>&1; then
	say toolkit "$(nvidia-ctk --version 2>/dev/null | sed -n '1s/.* //p')"
fi
if command -v nvidia-container-runtime-hook >/dev/null 2>&1; then
	# When its packages were first installed, and when Docker started: Docker looks for it then. %W is 0 or - where it is not told.
	say hook "$(stat -c %W /etc/nvidia-container-runtime 2>/dev/null) $(stat -c %Y /run/docker.pid 2>/dev/null)"
fi
for file in /etc/cdi/*.yaml /etc/cdi/*.json /var/run/cdi/*.yaml /var/run/cdi/*.json; do
	grep -Eq '(^|[^.[:alnum:]])nvidia\.com/gpu' "$file" 2>/dev/null || continue
	say cdi "$file"
	say cdinames "$(grep -Eo '"?name"?: *"?([0-9]+(:[0-9]+)?|(GPU|MIG)-[[:alnum:]/-]+)"? *(,|}|$)' "$file" | sed 's/.*name"*: *"*//; s/[" ,}]*$//' | tr '\n' ' ')"
done
! command -v bash >/dev/null 2>&1 || say has bash
say done yes

# Prints what a host has that counts for containers with GPUs: lines that begin with a word and a space. It changes nothing.
# $1 is the address of the packages, $2 the file of their key, $3 the file of their source.
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export LC_ALL PATH
say() { printf '%s %s\n' "$1" "$2"; }
each() { awk -v word="$1" '{ print word " " $0 }'; } # each line of its input, behind a word

root=
if [ "$(id -u)" = 0 ]; then
	say root yes
elif sudo -n true 2>/dev/null; then
	say root yes
	root='sudo -n'
fi
say user "$(id -un 2>/dev/null || id -u)"
say os "$(uname -s)"
say arch "$(uname -m)"
if [ -r /etc/os-release ]; then
	(. /etc/os-release && say id "$ID" && say version "$VERSION_ID" && say system "$PRETTY_NAME")
fi
for card in /sys/bus/pci/devices/*; do
	case $(cat "$card/vendor" "$card/class" 2>/dev/null | tr '\n' ' ') in
	"0x10de 0x03"*) say card "${card##*/}" ;;
	esac
done
! command -v nvidia-smi >/dev/null 2>&1 || say smi yes
if command -v mokutil >/dev/null 2>&1; then
	case $(mokutil --sb-state 2>/dev/null) in *enabled*) say secureboot yes ;; esac
else
	for variable in /sys/firmware/efi/efivars/SecureBoot-*; do
		[ "$(od -An -t u1 -j 4 -N 1 "$variable" 2>/dev/null | tr -d ' ')" != 1 ] || say secureboot yes
	done
fi

if command -v docker >/dev/null 2>&1; then
	say docker "$(command -v docker)"
	if text=$($root docker info --format '{{json .}}' 2>/dev/null); then
		say info "$text"
	else
		say dockererror "$($root docker info 2>&1 >/dev/null | tail -n 1)"
	fi
	$root docker ps --no-trunc --format '{{.ID}} {{.Names}}' 2>/dev/null | each runs
elif command -v dockerd >/dev/null 2>&1; then
	say dockerd "$(command -v dockerd)"
fi
if [ -e /etc/docker/daemon.json ]; then
	say config yes
	$root cat /etc/docker/daemon.json | each daemon
	say sum "$($root sha256sum /etc/docker/daemon.json | cut -d' ' -f1)"
fi

if command -v nvidia-ctk >/dev/null 2>&1; then
	say toolkit "$(nvidia-ctk --version 2>/dev/null | sed -n '1s/.* //p')"
fi
say package "$(dpkg-query -W -f='${db:Status-Abbrev}' nvidia-container-toolkit 2>/dev/null)"
for update in /var/lib/dpkg/updates/[0-9]*; do
	[ ! -e "$update" ] || say unfinished yes
done
for package in nvidia-container-toolkit nvidia-driver; do
	say candidate "$package $(apt-cache policy "$package" 2>/dev/null | sed -n 's/^ *Candidate: *//p')"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
	! grep -v '^ *#' "$file" 2>/dev/null | grep -qF "$1" || say source "$file"
done
[ ! -s "$2" ] || say key "$(sha256sum "$2" | cut -d' ' -f1)"
[ ! -e "$3" ] || each list <"$3"
[ -e /etc/ssl/certs/ca-certificates.crt ] || say lacks ca-certificates

for file in /etc/cdi/*.yaml /etc/cdi/*.json /var/run/cdi/*.yaml /var/run/cdi/*.json; do
	grep -Eq '(^|[^.[:alnum:]])nvidia\.com/gpu' "$file" 2>/dev/null || continue
	say spec "$file $(grep -o 'libcuda\.so\.[0-9][0-9][0-9][0-9.]*[0-9]' "$file" | sed -n '1s/libcuda\.so\.//p')"
done
say done yes

# Starts the agent in the place of this script, and has its program sent where it is not there.
# What it says to the other side is behind the word mlframework-agent: send ARCHITECTURE, fault KIND
# TEXT. Before it stand variables with names of folders and files (bootstrap.go). Its arguments are
# three for each program: architecture, sha256, size in bytes.
before=$(umask)
umask 077
say() { printf 'mlframework-agent %s\n' "$*"; }
new= put= made=0
fault() {
	if [ -n "$new" ]; then
		rm -f "$part"
		[ -z "$put" ] || rm -f "$program" # else it is another start's that came meanwhile
		dir=$cache
		while [ "$made" -gt 0 ]; do
			rmdir "$dir" 2>/dev/null
			dir=$(dirname "$dir") made=$((made - 1))
		done
	fi
	say fault "$@"
	exit 0
}
case $(uname -sm) in
"Linux x86_64") arch=amd64 ;;
"Linux aarch64") arch=arm64 ;;
*) fault system "$(uname -sm)" ;;
esac
sum= size=
while [ $# -ge 3 ]; do
	[ "$1" != "$arch" ] || sum=$2 size=$3
	shift 3
done
[ -n "$sum" ] || fault program "$arch"
cache=$XDG_CACHE_HOME
case $cache in /*) ;; *) cache=$HOME/.cache ;; esac
cache=$cache/$folder program=$cache/$prefix$sum
# Whoever may write there may start programs as this user. Every common sh has -O.
# shellcheck disable=SC3067
owned() { [ -O "$1" ] && chmod go-w "$1" 2>/dev/null; }
if [ -e "$cache" ] || [ -L "$cache" ]; then owned "$cache" || fault foreign "$cache"; fi
intact() {
	[ ! -L "$program" ] && [ -f "$program" ] && [ -x "$program" ] && owned "$program" || return 1
	is=$(sha256sum "$program") || fault tool sha256sum
	[ "${is%% *}" = "$sum" ]
}
if ! intact; then
	dir=$cache
	while [ ! -d "$dir" ] && [ "$dir" != / ]; do dir=$(dirname "$dir") made=$((made + 1)); done
	new=yes part=
	why=$(mkdir -p "$cache" 2>&1) || fault folder "$why"
	part=$(mktemp "$cache/${parts}XXXXXXXXXX" 2>&1) || { why=$part part=; fault folder "$why"; }
	trap 'rm -f "$part"' EXIT
	say send "$arch"
	why=$(head -c "$size" 2>&1 >"$part") || fault write "$why"
	is=$(sha256sum "$part") || fault tool sha256sum
	[ "${is%% *}" = "$sum" ] || fault damaged "$cache"
	why=$({ chmod 755 "$part" && mv -f "$part" "$program"; } 2>&1) || fault write "$why"
	put=yes
fi
umask "$before"
"$program" agent --program "$program" --made "$made"
code=$?
case $code in 126 | 127) fault exec "$program" ;; esac
exit $code

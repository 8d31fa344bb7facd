#!/bin/sh
# Removes the cluster from its hosts: its containers, networks, and the images
# built there. They are found by label, so the script also removes anything that
# was started after the script was written. You can run it more than once.
#
#     ./infra-clean            keep sweeps and files; infrainit -f continues
#                              with them
#     ./infra-clean --volumes  also remove the store, with all sweeps and
#                              results, and the broker's data
#     ./infra-clean --files    also remove the cluster's folder on every host,
#                              with the outputs of tasks, and the user's copies
#                              of sweepd, which are copied again when needed
#     ./infra-clean --yes      do not ask; by default, the script asks if tasks
#                              are running and before it deletes data
#     ./infra-clean --dry-run  show what would be removed; change nothing
#
# The exit code is 0 if nothing is left, 1 if something is left, and 2 if the
# command line is invalid.

cluster={{quote .Name}}
root={{quote .Root}}
label={{quote .Label}}

volumes=no files=no yes=no do=clean
for option; do
	case $option in
	--volumes) volumes=yes ;;
	--files) files=yes ;;
	--yes | -y) yes=yes ;;
	--dry-run) do=show yes=yes ;;
	-h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0" && exit 0 ;;
	*) echo "infra-clean: unknown option $option; see $0 --help" >&2 && exit 2 ;;
	esac
done

# What runs on a host. Its arguments: look or clean, cluster, root, label, volumes, files.
on_host() {
	cat <<'END'
printf '\n%s\n' {{quote .Mark}}
what=$1 cluster=$2 root=$3 filter=label=$4=$2 volumes=$5 files=$6
lock={{quote .Lock}}
case $root in /*) ;; *) root=$HOME/$root lock=$HOME/$lock ;; esac
left() { echo "LEFT: $1"; status=1; }
status=0

docker=docker
if ! docker version >/dev/null 2>&1; then
	if sudo -n docker version >/dev/null 2>&1; then docker='sudo -n docker'; else docker=; fi
fi

# each KIND LIST-COMMAND REMOVE-COMMAND removes what has the label.
each() {
	ids=$($docker $2 -q --filter "$filter" | sort -u) || { left "$1: Docker does not list them"; return; }
	[ -n "$ids" ] || return 0
	count=$(echo "$ids" | wc -l | tr -d ' ')
	[ "$what" != show ] || { echo "would be removed: $1 ($count)"; return; }
	if said=$($docker $3 $ids 2>&1); then echo "removed: $1 ($count)"; else left "$1: $(echo "$said" | tail -n 1)"; fi
}

marker=$root/{{.MarkerFile}}
ours() {
	[ -f "$marker" ] && sed 's/"cluster" *: *"/"cluster":"/' "$marker" | grep -qF "\"cluster\":\"$cluster\"" &&
		[ "$root" != "$HOME" ] && [ "$root" != / ]
}

if [ "$what" = look ]; then
	for id in $([ -z "$docker" ] || $docker ps -q --filter "$filter"); do
		$docker top "$id" -eo pid | sed 1d
	done 2>/dev/null | while read -r pid; do
		tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^TASK_ID=\(.*\)\/[0-9]*$/\1 &/p'
	done 2>/dev/null | sort -u | cut -d' ' -f1 | uniq -c | while read -r count sweep; do echo "running tasks: $count of $sweep"; done
	[ "$volumes" = no ] || [ -z "$docker" ] || $docker volume ls -q --filter "$filter" | sed 's/^/the volume /'
	[ "$files" = no ] || ! ours || find "$root"/{{.Outputs}} -mindepth 1 -maxdepth 1 -type d ! -name '.*' 2>/dev/null |
		sort | while read -r sweep; do echo "outputs of tasks: $(find "$sweep" -mindepth 1 -maxdepth 1 -type d | wc -l | tr -d ' '), $(du -sh "$sweep" | cut -f1), in $sweep"; done
	exit 0
fi

if [ -z "$docker" ]; then
	left "containers, perhaps: Docker does not answer this user"
else
	each containers 'ps -a' 'rm -f -v'
	each networks 'network ls' 'network rm'
	each images 'images' 'rmi -f'
	[ "$volumes" = no ] || each volumes 'volume ls' 'volume rm'
fi
if [ "$files" = yes ] && [ -e "$root" ]; then
	if ! ours; then
		left "$root: it is not this cluster's"
	elif [ "$what" = show ]; then
		echo "would be removed: $root"
	elif find "$root" -type d ! -perm -700 -exec chmod u+rwx {} + ; rm -rf "$root"; then
		echo "removed: $root"
		rm -f "$lock"
		rmdir "$(dirname "$root")" 2>/dev/null
	else
		left "$root"
	fi
fi
if [ "$files" = yes ] && [ "$what" = clean ]; then
	cache=$XDG_CACHE_HOME
	case $cache in /*) ;; *) cache=$HOME/.cache ;; esac
	rm -f "$cache/{{.Cache}}/{{.CachedPrefix}}"* "$cache/{{.Cache}}/{{.CachedPart}}"* || left "$cache/{{.Cache}}"
	rmdir "$cache/{{.Cache}}" "$cache" 2>/dev/null
fi
exit $status
END
}

# answer leaves out what a login shell printed before it ran anything; without an answer that is what there is to tell.
answer() {
	if printf '%s\n' "$1" | grep -qxF {{quote .Mark}}; then
		printf '%s\n' "$1" | sed '1,/^{{.Mark}}$/d'
	else
		printf '%s' "$1"
	fi
}

# host LOOK-SHOW-OR-CLEAN NAME [SSH-ARGUMENTS...] runs it, here when there are no arguments.
host() {
	what=$1 name=$2
	shift 2
	if [ $# -eq 0 ]; then
		said=$(sh -c "$(on_host)" sh "$what" "$cluster" "$root" "$label" $volumes $files 2>&1)
		code=$?
	else
		said=$(on_host | ssh -a -x -o LogLevel=ERROR -o ConnectTimeout=10 "$@" \
			"exec sh -s $what $(quoted "$cluster") $(quoted "$root") $(quoted "$label") $volumes $files" 2>&1)
		code=$?
	fi
	said=$(answer "$said")
	case $what,$code,$volumes$files in
	look,0,nono) ;;
	look,*,nono) return 0 ;; # what could not be reached is told when it is cleaned
	look,0,*) printf '%s: reached\n' "$name" | shown >&2 ;; # standard output has what would be lost
	look,*) { lines "$said" && printf '%s: NOT REACHED: what is there stays\n' "$name" | shown; } >&2 && return 0 ;;
	esac
	lines "$said"
	if [ $code -ne 0 ]; then
		[ $code -ne 255 ] || printf '%s: LEFT: everything: ssh does not come through; run this again when it does\n' "$name" | shown
		left=yes
	fi
}

# lines TEXT prints every line of it behind the name of the host.
lines() {
	[ -z "$1" ] || printf '%s\n' "$1" | while IFS= read -r line; do printf '%s: %s\n' "$name" "$line"; done | shown
}

# shown makes what others wrote safe to show on a terminal: no control codes, and nothing that looks like what it is not.
shown() { LC_ALL=C tr -d '\r' | LC_ALL=C tr -c '\11\12\40-\176' '?'; }

quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

hosts() {
{{- range .Hosts}}
	host "$1" {{quote .Name}} {{words .SSH}}
{{- end}}
}

if [ $yes = no ]; then
	found=$(hosts look)
	running=$(printf '%s\n' "$found" | grep ': running tasks: ') lost=$(printf '%s\n' "$found" | grep -v ': running tasks: ')
	again='; infrainit -f starts them again'
	[ $volumes = no ] || again=
	[ -z "$running" ] || printf 'These tasks will be stopped%s:\n%s\n' "$again" "$running"
	[ -z "$lost" ] ||
		printf 'This will be gone for good (run-tasks fetch brings outputs, run-tasks results --csv results):\n%s\n' "$lost"
	if [ -n "$found" ]; then
		printf 'Go on? [y/N] '
		read -r answer || answer=
		case $answer in
		y | Y | yes) ;;
		*)
			[ ! -t 0 ] || { echo "nothing was changed" && exit 1; }
			echo "nothing was changed; to go on without a terminal: $0 ${*:+$* }--yes" && exit 1
			;;
		esac
	fi
fi

left=no
hosts $do
[ $do = clean ] || { [ $left = no ] && exit 0 || exit 1; }
[ $left = no ] || { echo "something is left: see above" >&2 && exit 1; }
case $volumes$files in
yesyes) echo "cluster $cluster: nothing is left" ;;
yesno) echo "cluster $cluster: its files are left (--files)" ;;
noyes) echo "cluster $cluster: its store is left (--volumes)" ;;
*) echo "cluster $cluster: its store and files are left (--volumes, --files)" ;;
esac

# shellcheck shell=bash
# What the scripts in this folder share; they source it. It works with the bash 3.2 of macOS, too.

set -euo pipefail

# The project's folder; the scripts work in it.
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OLDPWD=$PWD
cd "$project"

absent=()

# absent_tool NAME WHY DEBIAN ELSEWHERE notes that a tool is missing and how to get it.
absent_tool() {
	absent+=("$1 is missing: $2." "    Debian, Ubuntu:  $3" "    elsewhere:       $4")
}

# need_go wants the Go that go.mod names, or a newer one.
need_go() {
	local want have
	want=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)
	have=$(go env GOVERSION 2>/dev/null || true)
	if ! at_least "$want" "${have#go}"; then
		absent_tool "Go $want or newer${have:+ (found $have)}" "it builds the project" \
			"download it from https://go.dev/dl and put its bin folder on PATH (apt-get may have an older one)" \
			"https://go.dev/dl"
	fi
}

# at_least WANT HAVE compares versions MAJOR.MINOR; what follows the minor one does not count.
at_least() {
	local want_major=${1%%.*} want_minor=${1#*.} have_major=${2%%.*} have_minor=${2#*.}
	have_minor=${have_minor%%[!0-9]*}
	[[ $have_major =~ ^[0-9]+$ && $have_minor =~ ^[0-9]+$ ]] || return 1
	((have_major > want_major || (have_major == want_major && have_minor >= want_minor)))
}

need_python() {
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null ||
		absent_tool "Python 3.8 or newer" "the training in projects/digits is written in it" \
			"apt-get install python3" "https://www.python.org/downloads (macOS: xcode-select --install)"
}

need_git() {
	command -v git >/dev/null ||
		absent_tool "git" "tests ask it what an ignore file means" \
			"apt-get install git" "https://git-scm.com/downloads (macOS: xcode-select --install)"
}

# need_all ends the script when a tool is missing, after it named every one.
need_all() {
	if ((${#absent[@]} > 0)); then
		printf '%s\n' "scripts/$(basename "$0") cannot run here." "${absent[@]}" >&2
		exit 1
	fi
}

# version prints the version of what is checked out, nothing outside of git: the last tag, the commits since then and
# the newest of them, v0.3.0-12-g0123456789ab. Without a tag it counts from v0.0.0.
version() {
	local changes=+changes
	git describe --tags --match 'v[0-9]*' --dirty=+changes --abbrev=12 2>/dev/null && return
	git diff-index --quiet HEAD -- 2>/dev/null && changes=
	git log -1 --abbrev=12 --format="v0.0.0-$(git rev-list --count HEAD 2>/dev/null)-g%h$changes" 2>/dev/null || true
}

# build puts the static binaries into bin/, or the folder $bin: of all commands, or of those that are named. With all of them
# comes sweepd for every architecture that hosts have, in linux-ARCH beside the commands, where infrainit looks for it.
build() {
	local targets=("./cmd/...") arch stamp
	stamp="-X mlframework/cmd/internal/cli.stamped=$(version)"
	(($# == 0)) || targets=("${@/#/./cmd/}")
	mkdir -p "${bin:=bin}"
	CGO_ENABLED=0 go build -trimpath -ldflags="$stamp" -o "$bin/" "${targets[@]}"
	(($# == 0)) || return 0
	for arch in amd64 arm64; do
		CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags="-s -w $stamp" -o "$bin/linux-$arch/sweepd" ./cmd/sweepd
	done
}

# share BIN FOLDER writes manual pages and completions of the commands in a folder into another, each where man and the
# shells look below share.
share() {
	go run ./scripts/manual "$1" "$2/man/man1"
	mkdir -p "$2/bash-completion/completions" "$2/zsh/site-functions" "$2/fish/vendor_completions.d"
	"$1/run-tasks" completion bash >"$2/bash-completion/completions/run-tasks"
	"$1/run-tasks" completion zsh >"$2/zsh/site-functions/_run-tasks"
	"$1/run-tasks" completion fish >"$2/fish/vendor_completions.d/run-tasks.fish"
}

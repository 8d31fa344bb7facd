#!/bin/sh
# Installs a release of mlframework: the commands for this machine, their manual pages, and sweepd for hosts.
#
#     curl -LsSf URL/install.sh | MLFRAMEWORK_URL=URL sh
#
# MLFRAMEWORK_URL is where the files of a release are, an address or a folder. MLFRAMEWORK_PREFIX is where they go, ~/.local unless
# it is set: the commands go into its folder bin, the pages into share/man. It needs curl or wget for an address, tar, and sha256sum or
# shasum.

set -eu

fail() { printf 'install.sh: %s\n' "$*" >&2 && exit 1; }

# get NAME brings a file of the release into the current folder.
get() {
	case $from in
	http://* | https://*)
		if command -v curl >/dev/null; then
			curl -LsSf -o "$1" "$from/$1"
		elif command -v wget >/dev/null; then
			wget -q -O "$1" "$from/$1"
		else
			fail "neither curl nor wget is installed, and one of them is needed to download from $from"
		fi || fail "cannot download $from/$1"
		;;
	*) cp "$from/$1" "$1" || fail "cannot read $from/$1" ;;
	esac
}

sum() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# main is called in the last line, so that nothing runs of a download that was cut.
main() {
	from=${MLFRAMEWORK_URL:-}
	[ -n "$from" ] || fail 'set MLFRAMEWORK_URL to where the release is: an address or a folder'
	case $from in http://* | https://* | /*) ;; *) from=$PWD/$from ;; esac
	from=${from%/}
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no release for $(uname -s): Linux and macOS have one" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no release for $(uname -m): amd64 and arm64 have one" ;;
	esac
	prefix=${MLFRAMEWORK_PREFIX:-$HOME/.local}
	bin=$prefix/bin pages=$prefix/share/man/man1
	temporary=$(mktemp -d)
	trap 'rm -rf "$temporary"' EXIT
	cd "$temporary"
	archive=mlframework-$os-$arch.tar.gz
	get SHA256SUMS
	get "$archive"
	want=$(sed -n "s/  $archive\$//p" SHA256SUMS)
	[ -n "$want" ] || fail "SHA256SUMS of $from does not name $archive"
	[ "$(sum "$archive")" = "$want" ] || fail "$archive is not what SHA256SUMS says: the download was cut or changed; try again"
	mkdir -p "$bin" "$pages" files
	tar -xzf "$archive" -C files
	mv files/man/*.1 "$pages/"
	rmdir files/man
	for file in files/*; do # renamed into place: a command that runs goes on with its old file
		name=${file#files/}
		rm -rf "$bin/.$name.new"
		cp -R "$file" "$bin/.$name.new"
		if [ -d "$file" ]; then rm -rf "${bin:?}/$name"; fi
		mv -f "$bin/.$name.new" "$bin/$name"
	done
	printf 'installed %s into %s\n' "$("$bin/run-tasks" --version)" "$bin"
	case :$PATH: in
	*:"$bin":*) ;;
	*) printf 'it is not on your PATH yet: export PATH="%s:$PATH"\n' "$bin" ;;
	esac
}

main

# An image of nothing but a shell and the libraries of this host that nvidia-smi needs: it takes no registry.
image=mlframework-gpu-check:$$
trap 'docker rmi -f "$image" >/dev/null 2>&1' EXIT
libraries=$(for program in /bin/sh "$(command -v nvidia-smi)"; do ldd "$program" 2>/dev/null || :; done |
	sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | sort -u)
tar -C / -ch /bin/sh /etc/debian_version /etc/ld.so.conf $libraries 2>/dev/null |
	docker import -c 'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin' - "$image" >/dev/null
seen=$(timeout 120 docker run --rm --network none OPTIONS "$image" nvidia-smi -L 2>&1) || { printf '%s\n' "$seen" >&2 && exit 1; }
for gpu in UUIDS; do
	case $seen in
	*"$gpu"*) ;;
	*) printf 'the container does not see %s; it sees:\n%s\n' "$gpu" "$seen" >&2 && exit 1 ;;
	esac
done

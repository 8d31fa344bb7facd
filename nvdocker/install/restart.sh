# The arguments are the containers that may stop.
! dockerd --help 2>/dev/null | grep -q -- --validate || dockerd --validate --config-file=/etc/docker/daemon.json
for container in $(docker ps -q --no-trunc); do
	case " $* " in
	*" $container "*) ;;
	*) echo "the container $(docker inspect -f '{{.Name}}' "$container") was started meanwhile, and nobody agreed to stop it" >&2 && exit 1 ;;
	esac
done
if [ -d /run/systemd/system ]; then systemctl restart docker; else service docker restart; fi
for second in $(seq 60); do
	! docker info >/dev/null 2>&1 || exit 0
	sleep 1
done
echo 'Docker does not answer a minute after its restart' >&2
exit 1

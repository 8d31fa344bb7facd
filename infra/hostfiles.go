package infra

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"

	"mlframework/infra/broker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// unpack puts the files of a tar into a folder that nobody else may read: all of them, and each whole, or none.
const unpack = `umask 077
new=$1/.new
mkdir -p "$1" && chmod 700 "$1" && rm -rf "$new" && mkdir "$new" && tar -x -p -o -f - -C "$new" || exit 1
[ "$2" = -1 ] || chown -R "$2:$3" "$1" || exit 1
find "$new" -type f -exec mv -f {} "$1" \; && rmdir "$new"`

// put writes files with mode 0600 into a folder with mode 0700. A uid of -1 leaves them to the ssh user.
func (m *machine) put(ctx context.Context, dir string, files []broker.File, uid, gid int) error {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o600, Size: int64(len(f.Data)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		if _, err := w.Write(f.Data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if uid == m.found.UID {
		uid = -1 // they are the user's anyway
	}
	return m.script(ctx, unpack, []string{dir, strconv.Itoa(uid), strconv.Itoa(gid)}, &b, nil)
}

// bring writes a program in one step, so that there is never a part of it under its name.
const bring = `umask 022
dir=$(dirname "$1")
mkdir -p "$dir" || exit 1
part=$dir/.part.$$
trap 'rm -f "$part"' EXIT
cat >"$part" || exit 1
[ "$(sha256sum <"$part" | cut -d' ' -f1)" = "$2" ] || { echo "it arrived damaged" >&2; exit 1; }
chmod 755 "$part" && mv -f "$part" "$1"`

// program brings sweepd to a host.
func (m *machine) program(ctx context.Context, file, to string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return m.script(ctx, bring, []string{to, hex.EncodeToString(sum.Sum(nil))}, f, nil)
}

// Hash is the name under which a program is on hosts: 16 hex digits of its SHA-256.
func Hash(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// makeFolders makes the cluster's folder with its marker, and then folders in it, so that whoever comes after a call that was cut
// off knows whose it is: $1 is the root, $2 the marker's text, $3 and $4 whom
// they are given to or -1, $5 a group and $6 its folder or nothing, and the rest are folders.
//
// The group's folder lies where every user of the host may have made something of that name before:
// what is there has to be a folder that an earlier call made.
const makeFolders = `umask 077
root=$1 marker=$2 uid=$3 gid=$4 group=$5 shared=$6
shift 6
mkdir -p "$root" || exit 1
file=$root/` + layout.MarkerFile + `
[ -s "$file" ] || printf '%s' "$marker" >"$file" || exit 1
mkdir -p "$@" || exit 1
if [ -n "$shared" ]; then
	refuse() {
		echo "$shared $1: another user of this host may have put it there" \
			"to get at the master's socket. Remove it (rm -rf $shared; as root where it is" \
			"not yours) and try again" >&2
		exit 1
	}
	if [ -h "$shared" ]; then
		refuse "is a link"
	elif [ ! -e "$shared" ]; then
		mkdir "$shared" || exit 1
	elif [ ! -d "$shared" ]; then
		refuse "is not a folder"
	else
		facts=$(ls -ldn "$shared") || exit 1
		owner=$(echo "$facts" | { read -r _ _ owner _; echo "$owner"; })
		[ "$owner" = "$(id -u)" ] || [ "$owner" = "$uid" ] ||
			refuse "belongs to the user with the number $owner"
		case $facts in ?????w* | ????????w*) refuse "can be changed by others" ;; esac
	fi
	chgrp "$group" "$shared" && chmod 2750 "$shared" || exit 1
	set -- "$@" "$shared"
fi
[ "$uid" = -1 ] || for folder; do chown "$uid:$gid" "$folder" || exit 1; done`

// removeFolder removes the cluster's folder, $1, with its lock, $2, and the one that it is in when nothing else is there.
const removeFolder = `[ ! -e "$1" ] || { chmod -R u+w "$1" && rm -rf "$1"; } || exit 1
rm -f "$2"
rmdir "$(dirname "$1")" 2>/dev/null
:`

func (m *machine) folders(ctx context.Context, do plan.Folders) error {
	marker := string(layout.NewMarker(do.Owner, do.Cluster).Encode())
	args := []string{do.Root, marker, strconv.Itoa(do.UID), strconv.Itoa(do.GID), do.Group, do.Shared}
	return m.script(ctx, makeFolders, append(args, do.Names...), nil, nil)
}

// keep writes a record, whole or not at all.
const keep = `umask 077
cat >"$1.part" && mv -f "$1.part" "$1"`

// base is the tar of the image with nothing in it but a user and the folders that belong to it.
func base(do plan.Base) (io.Reader, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	text := map[string]string{
		"etc/passwd": fmt.Sprintf("%s:x:%d:%d::/store:/sbin/nologin\n", do.User, do.UID, do.GID),
		"etc/group":  fmt.Sprintf("%s:x:%d:\n", do.User, do.GID),
	}
	for _, dir := range []string{"etc", "tmp", "store", "run"} {
		h := tar.Header{Name: dir + "/", Mode: 0o755, Typeflag: tar.TypeDir}
		if dir == "store" {
			h.Uid, h.Gid, h.Mode = do.UID, do.GID, 0o700
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(text) {
		if err := w.WriteHeader(&tar.Header{Name: path.Clean(name), Mode: 0o644, Size: int64(len(text[name])), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text[name]); err != nil {
			return nil, err
		}
	}
	return &b, w.Close()
}

package infra

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"path"

	"mlframework/infra/plan"
)

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
		if err := w.WriteHeader(&tar.Header{Name: path.Clean(name), Mode: 0o644,
			Size: int64(len(text[name])), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text[name]); err != nil {
			return nil, err
		}
	}
	return &b, w.Close()
}

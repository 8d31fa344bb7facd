package monitor

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
)

//go:embed assets
var assets embed.FS

// assetTypes are the kinds of files that pages load.
var assetTypes = map[string]string{".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// assetVersions are hashes of the files: a page names the one that it was written for, and browsers
// keep that for good.
var assetVersions = hashAssets()

func hashAssets() map[string]string {
	versions := map[string]string{}
	files, err := fs.Glob(assets, "assets/*")
	if err != nil {
		panic(err) // the pattern above is wrong
	}
	for _, file := range files {
		text, err := assets.ReadFile(file)
		if err != nil {
			panic(err) // what is embedded can be read
		}
		sum := sha256.Sum256(text)
		versions[path.Base(file)] = hex.EncodeToString(sum[:6])
	}
	return versions
}

// assetURL returns an asset as pages name it.
func assetURL(base, name string) string { return base + "/" + name + "?v=" + assetVersions[name] }

func (m *Monitor) asset(w http.ResponseWriter, r *request) error {
	name := r.PathValue("name")
	version := assetVersions[name]
	if version == "" {
		return &fault{status: http.StatusNotFound, Text: "There is no such file."}
	}
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return err
	}
	if r.URL.Query().Get("v") == version {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	send(w, r, http.StatusOK, assetTypes[path.Ext(name)], text)
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// npmVersions returns the versions of a package, from one request to npm.
func npmVersions(ctx context.Context, name string) ([]string, error) {
	out, err := output(ctx, "", nil, "npm", "view", "--json", name, "versions")
	if err != nil {
		return nil, err
	}
	var versions []string
	if err := json.Unmarshal([]byte(out), &versions); err != nil {
		return nil, fmt.Errorf("npm view %s: %w", name, err)
	}
	return versions, nil
}

// newest returns the highest release that begins with the numbers of prefix, or the highest
// of all if that is "". Pre-releases do not count.
func newest(versions []string, prefix string) string {
	best, bestKey := "", [3]int{-1}
	for _, v := range versions {
		key, ok := numbers(v)
		if !ok || prefix != "" && v != prefix && !strings.HasPrefix(v, prefix+".") {
			continue
		}
		if key[0] > bestKey[0] || key[0] == bestKey[0] && (key[1] > bestKey[1] || key[1] == bestKey[1] && key[2] > bestKey[2]) {
			best, bestKey = v, key
		}
	}
	return best
}

// numbers returns the numbers of a version of the form 1.2.3.
func numbers(version string) (key [3]int, ok bool) {
	parts := strings.Split(version, ".")
	if len(parts) != 3 {
		return key, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			return key, false
		}
		key[i] = n
	}
	return key, true
}

// installNPM installs a version of a package, or the newest if that is "", into a folder of
// its own. It returns the folder of its programs and the version. Without network, it
// returns the installed version.
func installNPM(ctx context.Context, roots, name, version string) (dir, installed string, err error) {
	dir = filepath.Join(roots, "npm", name)
	if version != "" {
		dir += "@" + version
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	present := npmInstalled(dir, name)
	versions, err := npmVersions(ctx, name)
	if err != nil {
		if present == "" {
			return "", "", err
		}
		return bin, present, nil
	}
	wanted := newest(versions, version)
	if wanted == "" {
		return "", "", fmt.Errorf("npm has no release %s of %s; its newest is %s", version, name, newest(versions, ""))
	}
	if present == wanted {
		return bin, present, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", err
	}
	// Some packages fetch their program in an install script, and some are for other machines.
	if _, err := output(ctx, dir, nil, "npm", "install", "--force", "--no-fund", "--no-audit", "--prefix", dir, name+"@"+wanted); err != nil {
		return "", "", err
	}
	if present = npmInstalled(dir, name); present == "" {
		return "", "", fmt.Errorf("npm installed no %s into %s", name, dir)
	}
	return bin, present, nil
}

// npmInstalled returns the version of a package in a folder, or "".
func npmInstalled(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", name, "package.json"))
	if err != nil {
		return ""
	}
	var p struct{ Version string }
	if json.Unmarshal(b, &p) != nil {
		return ""
	}
	return p.Version
}

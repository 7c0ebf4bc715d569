package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A module is a library of Go's proxy, with a program of testdata/truth/wasm that uses it.
type module struct {
	path    string // without a version
	major   string // of the path, with a slash before it, or ""; the program imports this one
	program string // its directory
	tags    string // of go build
}

// install builds the program with a version of the module, or the newest if that is "", in a
// folder of its own. It returns the program's path and the version. Without network, it returns
// those of an earlier run.
func (m *module) install(ctx context.Context, top, roots, version string) (program, installed string, err error) {
	path, query := m.path+m.major, "latest"
	if version != "" {
		query = "v" + version
		if major, _, _ := strings.Cut(version, "."); m.major != "" {
			path = m.path + "/v" + major
		}
	}
	dir := filepath.Join(roots, "go", m.program+"@"+query)
	program = filepath.Join(dir, m.program)
	text, err := os.ReadFile(filepath.Join(top, "testdata", "truth", "wasm", m.program, "main.go"))
	if err != nil {
		return "", "", err
	}
	text = bytes.ReplaceAll(text, []byte(`"`+m.path+m.major+`"`), []byte(`"`+path+`"`))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), text, 0o644); err != nil {
		return "", "", err
	}
	env := []string{"GOFLAGS=-mod=mod", "GOWORK=off"}
	output(ctx, dir, env, "go", "mod", "init", "truth") // fails from the second time on
	_, getError := output(ctx, dir, env, "go", "get", path+"@"+query)
	out, err := output(ctx, dir, env, "go", "list", "-m", "-f", "{{.Version}}", path)
	if err != nil {
		return "", "", fmt.Errorf("%w; %w", getError, err)
	}
	_, err = output(ctx, dir, env, "go", "build", "-tags", m.tags, "-o", program)
	return program, strings.TrimPrefix(strings.TrimSpace(out), "v"), err
}

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A use is code of others that is linked into a program, under one license.
type use struct {
	module  string // its path
	version string // as in go.mod
	subdir  string // of the module, slashes; "" for all of it that has no use of its own
	notice
}

// architectures are those that packages are built for: build tags make differences.
var architectures = []string{"amd64", "arm64"}

// linked returns what is linked into a program for Linux, in the order of module and
// directory.
func linked(program string) ([]use, error) {
	found := make(map[[2]string]use)
	for _, arch := range architectures {
		packages, err := list(program, arch)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			file, subdir, err := licenseFile(p)
			if err != nil {
				return nil, err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			n, section, err := noticeFor(string(text), p.subdir())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if section != "" {
				subdir = section
			}
			if len(n.copyright) == 0 {
				n.copyright, err = headerNotices(p.dir)
				if err != nil {
					return nil, err
				}
			}
			key := [2]string{p.module, subdir}
			for _, c := range found[key].copyright {
				if !slices.Contains(n.copyright, c) {
					n.copyright = append(n.copyright, c)
				}
			}
			if n.kind.spdx == "Apache-2.0" {
				slices.Sort(n.copyright) // of several packages
			}
			found[key] = use{p.module, p.version, subdir, n}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b use) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.subdir, b.subdir))
	}), nil
}

// A pkg is a package of another module.
type pkg struct {
	module, version, path string
	dir                   string // where it lies
}

// subdir is the package's directory in its module, with slashes.
func (p pkg) subdir() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.path, p.module), "/")
}

// list asks the go command for the packages of other modules in a program.
func list(program, arch string) ([]pkg, error) {
	cmd := exec.Command(goCommand(), "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{$.ImportPath}}\t{{$.Dir}}{{end}}{{end}}", program)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s for %s: %w", program, arch, err)
	}
	var packages []pkg
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 4 {
			packages = append(packages, pkg{f[0], f[1], f[2], f[3]})
		}
	}
	return packages, nil
}

// licenseFile returns the license that is nearest to a package, in its directory or
// one above, and where in the module that is.
func licenseFile(p pkg) (file, subdir string, err error) {
	dir := p.dir
	for subdir = p.subdir(); ; subdir = path.Dir(subdir) {
		if subdir == "." {
			subdir = ""
		}
		for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "UNLICENSE", "COPYING"} {
			file := filepath.Join(dir, name)
			if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
				return file, subdir, nil
			}
		}
		if subdir == "" {
			return "", "", fmt.Errorf("%s %s: no license file", p.module, p.version)
		}
		dir = filepath.Dir(dir)
	}
}

// goLicense is that of Go's standard library: each program has a part of it.
func goLicense() (use, error) {
	root, err := exec.Command(goCommand(), "env", "GOROOT").Output()
	if err != nil {
		return use{}, fmt.Errorf("go env GOROOT: %w", err)
	}
	file := filepath.Join(string(bytes.TrimSpace(root)), "LICENSE")
	text, err := os.ReadFile(file)
	if err != nil {
		return use{}, fmt.Errorf("no license of Go where its archives have it: %w", err)
	}
	n, _, err := noticeFor(string(text), "")
	if err != nil {
		return use{}, fmt.Errorf("%s: %w", file, err)
	}
	return use{module: "Go", notice: n}, nil
}

// goCommand is the go command that make was told to use.
func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }

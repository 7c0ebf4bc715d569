package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// perfsCache stands for the build-id cache that perf itself uses, where none is named.
// It is no name of a directory.
const perfsCache = "\x00perf"

// findCache completes the name of the build-id cache.
func (o *options) findCache() error {
	home := os.Getenv("HOME")
	switch {
	case o.cache == perfsCache:
		return o.findPerfsCache(home)
	case o.cache == "~", strings.HasPrefix(o.cache, "~/"): // in --buildid-cache=~/DIR the shell leaves the ~ as it is
		if home == "" {
			return noHome
		}
		o.cache = filepath.Join(home, o.cache[1:])
	}
	return nil
}

const noHome = usageError("--buildid-cache: there is no home directory; name one with --buildid-cache=DIR")

// findPerfsCache finds the cache as perf does. perf tells its commands where it is
// (perf --buildid-dir); else its configuration does.
func (o *options) findPerfsCache(home string) error {
	if o.cache = os.Getenv("PERF_BUILDID_DIR"); o.cache != "" {
		return nil
	}
	files := []string{"/etc/perfconfig", filepath.Join(home, ".perfconfig")}
	if home == "" {
		files = files[:1]
	}
	if only, set := os.LookupEnv("PERF_CONFIG"); set {
		files = []string{only}
	}
	for _, file := range files {
		if text, err := sys.ReadFile(file); err == nil {
			if dir := configured(string(text), "buildid", "dir"); dir != "" {
				o.cache = dir
			}
		}
	}
	switch {
	case o.cache != "":
	case home == "":
		return noHome
	default:
		o.cache = filepath.Join(home, ".debug")
	}
	return nil
}

// configured returns a value in a configuration of perf, or "". The format is that of
// git, see perf-config(1); as with perf, nothing is made of a ~ or $HOME in it.
func configured(text, section, key string) (value string) {
	in := ""
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		switch text[0] {
		case '#', ';':
			_, text, _ = strings.Cut(text, "\n")
			continue
		case '[':
			in, text, _ = strings.Cut(text[1:], "]")
			in = strings.ToLower(in)
			continue
		}
		end := strings.IndexAny(text, "=\n")
		if end < 0 {
			break
		}
		name, is := strings.TrimSpace(text[:end]), text[end] == '='
		if text = text[end+1:]; is {
			var found string
			if found, text = readValue(text); in == section && name == key {
				value = found // the last one counts
			}
		}
	}
	return value
}

// readValue reads a value to the end of its line: between quotes all counts, elsewhere
// spaces are one, and a comment ends it. A \ at the end of a line is none.
func readValue(text string) (value, rest string) {
	var b strings.Builder
	quoted, space := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			return b.String(), text[i:]
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String(), rest
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(text):
			i++
			if escaped := strings.IndexByte("ntb\n", text[i]); escaped >= 0 {
				b.WriteString([]string{"\n", "\t", "\b", ""}[escaped])
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

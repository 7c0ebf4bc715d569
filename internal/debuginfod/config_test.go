package debuginfod

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// from returns the configuration of an environment.
func from(t *testing.T, env ...string) (Config, []string, error) {
	t.Helper()
	return FromEnvironment(func(name string) string {
		for _, v := range env {
			if key, value, _ := strings.Cut(v, "="); key == name {
				return value
			}
		}
		return ""
	})
}

func TestFromEnvironment_Numbers(t *testing.T) {
	c, notes, err := from(t)
	if err != nil || len(notes) != 0 || c.Timeout != 90*time.Second || c.MaxTime != 0 || c.MaxSize != 1<<30 || c.Retries != 2 || len(c.Servers) != 0 || c.Cache != "" {
		t.Errorf("got %+v, %q, %v; want the defaults", c, notes, err)
	}
	c, notes, err = from(t, "DEBUGINFOD_TIMEOUT=0", "DEBUGINFOD_MAXTIME=7", "DEBUGINFOD_MAXSIZE=0", "DEBUGINFOD_RETRY_LIMIT=999999999")
	if err != nil || len(notes) != 0 || c.Timeout != 0 || c.MaxTime != 7*time.Second || c.MaxSize != 0 || c.Retries != 100 {
		t.Errorf("got %+v, %q, %v; want what the variables say", c, notes, err)
	}
	c, notes, err = from(t, "DEBUGINFOD_TIMEOUT=-1", "DEBUGINFOD_MAXTIME=9999999999999999", "DEBUGINFOD_MAXSIZE=1G")
	if err != nil || c.Timeout != 0 || c.MaxTime < time.Hour || c.MaxSize != 1<<30 || len(notes) != 1 || !strings.HasPrefix(notes[0], "DEBUGINFOD_MAXSIZE=1G: it is not a number") {
		t.Errorf("got %+v, %q, %v; want no limit, a long one, and a note about 1G", c, notes, err)
	}
}

func TestFromEnvironment_Servers(t *testing.T) {
	for list, want := range map[string]struct {
		servers []string
		notes   []string
	}{
		"":                      {},
		" http://a  https://b/": {servers: []string{"http://a", "https://b/"}},
		"http://a ima:enforcing http://b http://c ima:ignore http://d/x": {[]string{"http://a", "http://d/x"}, []string{"http://b is not asked", "http://c is not asked"}},
		"ima:permissive http://a":                             {notes: []string{"http://a is not asked"}},
		"file:///srv a:8002 http:// http://[::1]:8002?q#frag": {[]string{"http://[::1]:8002"}, []string{"file:///srv is not a URL", "a:8002 is not", "http:// is not"}},
		"http://a\x1b http://b":                               {[]string{"http://b"}, []string{"is not a URL"}},
	} {
		c, notes, err := from(t, "DEBUGINFOD_URLS="+list)
		var got []string
		for _, u := range c.Servers {
			got = append(got, u.String())
		}
		if err != nil || !slices.Equal(got, want.servers) {
			t.Errorf("%q: got %q, %v; want %q", list, got, err, want.servers)
		}
		if len(notes) != len(want.notes) {
			t.Errorf("%q: got notes %q; want %q", list, notes, want.notes)
			continue
		}
		for i := range notes {
			if !strings.Contains(notes[i], want.notes[i]) || strings.Contains(notes[i], "\x1b") {
				t.Errorf("%q: got note %q; want %q", list, notes[i], want.notes[i])
			}
		}
	}
}

func TestFromEnvironment_Headers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("X-A: one: two\n\n  \t\nx-b:3\r\nX-A:\n")
	c, _, err := from(t, "DEBUGINFOD_HEADERS_FILE="+file)
	if err != nil || !slices.Equal(c.Headers["X-A"], []string{"one: two", ""}) || c.Headers.Get("X-B") != "3" || len(c.Headers) != 2 {
		t.Errorf("got %q, %v; want two headers", c.Headers, err)
	}
	for _, text := range []string{"X-A: 1\nsecret\n", "X-A: 1\nse cret: 1\n", "X-A: 1\nsecret: \x01\n", "X-A: 1\n:secret"} {
		write(text)
		if _, _, err := from(t, "DEBUGINFOD_HEADERS_FILE="+file); err == nil || !strings.Contains(err.Error(), "line 2 is not a header") || strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: got %v; want an error about line 2, without its text", text, err)
		}
	}
	if _, _, err := from(t, "DEBUGINFOD_HEADERS_FILE="+file+"x"); err == nil || !strings.Contains(err.Error(), "named by DEBUGINFOD_HEADERS_FILE") {
		t.Errorf("got %v; want an error about the file", err)
	}
}

// The cache is where elfutils' clients have it.
func TestFromEnvironment_Cache(t *testing.T) {
	home := t.TempDir()
	for env, want := range map[string]string{
		"HOME=" + home:                        home + "/.cache/debuginfod_client",
		"HOME=" + home + " XDG_CACHE_HOME=/x": "/x/debuginfod_client",
		"HOME=" + home + " XDG_CACHE_HOME=/x DEBUGINFOD_CACHE_PATH=/c": "/c",
		"XDG_CACHE_HOME=/x": "/x/debuginfod_client",
		"":                  "",
	} {
		if c, _, _ := from(t, strings.Fields(env)...); c.Cache != want {
			t.Errorf("%q: got %q; want %q", env, c.Cache, want)
		}
	}
	old := filepath.Join(home, ".debuginfod_client_cache")
	if err := os.MkdirAll(filepath.Join(old, "abcdef"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, _, _ := from(t, "HOME="+home, "XDG_CACHE_HOME=/x")
	if c.Cache != old {
		t.Errorf("got %q; want the old cache, which is there", c.Cache)
	}
	var got []string
	use := func(f *sys.File) bool {
		text, err := io.ReadAll(f)
		got = append(got, fmt.Sprint(string(text), err))
		return string(text) == "file"
	}
	if c.EachCached(id, use) || len(got) != 0 {
		t.Errorf("got %q; want no files", got)
	}
	for name, text := range map[string]string{"executable": "", "debuginfo": "file", "source": "x"} {
		if err := os.WriteFile(filepath.Join(old, "abcdef", name), []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if !c.EachCached(id, use) || !slices.Equal(got, []string{"<nil>", "file<nil>"}) {
		t.Errorf("got %q; want the empty file and the other one", got)
	}
	if new(Config).EachCached(id, use) {
		t.Error("got a file of no cache")
	}
}

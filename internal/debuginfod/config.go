package debuginfod

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Config says which servers are asked, and what an answer may cost.
type Config struct {
	// Servers are URLs of http or https, in the order in which they are asked.
	Servers []*url.URL
	// Timeout is the time in which a server must send 100 KiB, or the rest of the file; 0 for no
	// limit.
	Timeout time.Duration
	// MaxTime limits the time of a whole answer; 0 for no limit.
	MaxTime time.Duration
	// MaxSize limits the size of a file in bytes; 0 for no limit.
	MaxSize int64
	// Retries is how often a server is asked again after an error that may pass.
	Retries int
	// Headers are sent with each request. They may have secrets.
	Headers http.Header
	// Cache is the directory of the cache of other clients, or "".
	Cache string
}

// The defaults are those of elfutils, except for the size: its clients have no limit.
const (
	defaultTimeout = 90 * time.Second
	defaultRetries = 2
	defaultMaxSize = 1 << 30
)

// FromEnvironment returns the configuration that the variables of debuginfod-client-config(7) give.
// getenv is os.Getenv. notes are about settings that are not used. The error is about the file of
// headers.
func FromEnvironment(getenv func(string) string) (c Config, notes []string, err error) {
	number := func(name string, otherwise int64) int64 {
		text := getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s=%s: it is not a number, and is not used", name, quote.Printable(text)))
			return otherwise
		}
		return max(n, 0)
	}
	seconds := func(name string, otherwise time.Duration) time.Duration {
		return time.Duration(min(number(name, int64(otherwise/time.Second)), maxSeconds)) * time.Second
	}
	c = Config{
		Timeout: seconds("DEBUGINFOD_TIMEOUT", defaultTimeout),
		MaxTime: seconds("DEBUGINFOD_MAXTIME", 0),
		MaxSize: number("DEBUGINFOD_MAXSIZE", defaultMaxSize),
		Retries: int(min(number("DEBUGINFOD_RETRY_LIMIT", defaultRetries), maxRetries)),
		Cache:   cacheDir(getenv),
	}
	c.Servers, notes = servers(getenv("DEBUGINFOD_URLS"), notes)
	if name := getenv("DEBUGINFOD_HEADERS_FILE"); name != "" {
		c.Headers, err = readHeaders(name)
	}
	return c, notes, err
}

// Numbers beyond these would overflow, or mean the same.
const (
	maxSeconds = 1 << 30
	maxRetries = 100
)

// servers returns the servers of DEBUGINFOD_URLS. A tag ima:POLICY is about the servers after it.
// Signatures are not checked here, so servers that need them are not asked.
func servers(list string, notes []string) ([]*url.URL, []string) {
	var of []*url.URL
	signed := false
	for _, word := range strings.Fields(list) {
		if policy, ok := strings.CutPrefix(word, "ima:"); ok {
			signed = policy != "ignore"
			continue
		}
		u, err := ParseServer(word)
		switch {
		case err != nil:
			notes = append(notes, fmt.Sprintf("DEBUGINFOD_URLS: %v; it is not asked", err))
		case signed:
			notes = append(notes, fmt.Sprintf("DEBUGINFOD_URLS: %s is not asked: its files must be signed (ima:enforcing), and signatures are not checked here", shown(u)))
		default:
			of = append(of, u)
		}
	}
	return of, notes
}

// ParseServer returns the URL of a server.
func ParseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is not a URL of http or https, such as http://host:8002", quote.Printable(text))
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// shown returns a URL for messages, without a password.
func shown(u *url.URL) string { return quote.Printable(u.Redacted()) }

// cacheDir returns the directory where elfutils' clients keep files, or "".
func cacheDir(getenv func(string) string) string {
	if dir := getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	home := getenv("HOME")
	if home != "" {
		old := filepath.Join(home, ".debuginfod_client_cache")
		if st, err := sys.Stat(old); err == nil && st.IsDir() {
			return old
		}
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "debuginfod_client")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache", "debuginfod_client")
}

// EachCached calls use with each open file of a build id in the cache of other clients, until it returns
// true. The files may be empty: that is how clients remember that no server has them.
func (c *Config) EachCached(id []byte, use func(file *sys.File) bool) bool {
	if c.Cache == "" {
		return false
	}
	for _, kind := range kinds {
		file, err := safefile.Open(filepath.Join(c.Cache, hex.EncodeToString(id), kind))
		if err != nil {
			continue
		}
		used := use(file)
		file.Close()
		if used {
			return true
		}
	}
	return false
}

// readHeaders reads a file with headers, one on each line. Its errors do not show what is in it.
func readHeaders(name string) (http.Header, error) {
	text, err := sys.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read it: %w; it is named by DEBUGINFOD_HEADERS_FILE", quote.Printable(name), safefile.WithoutPath(err))
	}
	headers := make(http.Header)
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(key) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Errorf("%s: line %d is not a header, NAME: VALUE; it is named by DEBUGINFOD_HEADERS_FILE", quote.Printable(name), n)
		}
		headers.Add(key, strings.TrimSpace(value))
	}
	return headers, nil
}

// isToken reports whether a text can be the name of a header [RFC 9110, 5.6.2].
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

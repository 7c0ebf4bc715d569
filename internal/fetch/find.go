package fetch

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// program is the client of debuginfod servers, of elfutils. It has the protocol, and follows the
// variables DEBUGINFOD_… of debuginfod-client-config(7).
const program = "debuginfod-find"

// kinds are the kinds of files that servers are asked for. debuginfod takes files without code, such as
// objects of functions with unknown code, for debugging information [debuginfod.cxx, elf_classify].
var kinds = []string{"executable", "debuginfo"}

// ErrNoProgram says that debuginfod-find is not installed.
var ErrNoProgram = errors.New(program + " is not installed; install it (Debian: debuginfod, Fedora: elfutils-debuginfod-client)")

// errAbsent says that no server has a file.
var errAbsent = errors.New("no server has it")

// maxFailures is the number of failures in a row after which servers are not asked any more. A server
// that does not answer takes up to 90 seconds for each of thousands of objects.
const maxFailures = 3

// A finder gets files from debuginfod servers. Several goroutines may use it at once.
//
// It gives debuginfod-find a directory of its own for a cache. The usual one would keep a second copy
// of each object, and for ten minutes it remembers that a server lacks a file, although the server may
// have scanned it by then.
type finder struct {
	path     string   // of debuginfod-find
	env      []string // with the servers and the directory
	dir      string   // of downloads
	failures atomic.Int32
}

// newFinder returns a finder that asks the given servers, or those of DEBUGINFOD_URLS if there are
// none. The caller closes it.
func newFinder(servers []string) (*finder, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, ErrNoProgram
	}
	dir, err := os.MkdirTemp("", "jitinject-fetch-")
	if err != nil {
		return nil, fmt.Errorf("no directory for downloads: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "DEBUGINFOD_CACHE_PATH=") || len(servers) > 0 && strings.HasPrefix(variable, "DEBUGINFOD_URLS=")
	})
	env = append(env, "DEBUGINFOD_CACHE_PATH="+dir, "DEBUGINFOD_VERBOSE=1", "LC_ALL=C")
	if len(servers) > 0 {
		env = append(env, "DEBUGINFOD_URLS="+strings.Join(servers, " "))
	}
	return &finder{path: path, env: env, dir: dir}, nil
}

func (f *finder) close() { os.RemoveAll(f.dir) }

// get gets the file of a build id. The caller closes it. The error is ctx's, errAbsent, or one that
// says what a server answered.
func (f *finder) get(ctx context.Context, id string) (*sys.File, error) {
	var absent error
	for _, kind := range kinds {
		if f.failures.Load() >= maxFailures {
			return nil, fmt.Errorf("not asked for: servers failed %d times in a row", maxFailures)
		}
		path, err := f.find(ctx, kind, id)
		switch {
		case err == nil:
			f.failures.Store(0)
			return safefile.Open(path)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, errAbsent):
			f.failures.Add(1)
			return nil, err
		}
		f.failures.Store(0)
		absent = err
	}
	return nil, absent
}

// answer matches an HTTP error in the log of debuginfod-find, in the words of libcurl.
var answer = regexp.MustCompile(`The requested URL returned error: (\d+)`)

// find runs debuginfod-find, which prints the path of the file, and nothing of it with an error. It ends
// with ENOENT whatever error a server answers, so only its log (DEBUGINFOD_VERBOSE) has the error.
func (f *finder) find(ctx context.Context, kind, id string) (path string, err error) {
	var stdout, stderr tail
	cmd := exec.CommandContext(ctx, f.path, kind, hex.EncodeToString([]byte(id)))
	cmd.Env, cmd.Stdout, cmd.Stderr = f.env, &stdout, &stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true} // Ctrl-C is for this process, which ends it
	if err := cmd.Run(); err != nil {
		log := strings.TrimSpace(string(stderr))
		said := log[strings.LastIndexByte(log, '\n')+1:]
		absent := strings.HasSuffix(said, unix.ENOENT.Error()) || strings.HasSuffix(said, "No such file or directory")
		answers := answer.FindAllStringSubmatch(log, -1)
		for _, a := range answers {
			if absent && a[1] != "404" {
				return "", fmt.Errorf("%s: a server answers with HTTP error %s", program, a[1])
			}
		}
		switch {
		case absent && len(answers) == 0:
			return "", fmt.Errorf("%w, or one failed", errAbsent)
		case absent:
			return "", errAbsent
		case said == "":
			return "", fmt.Errorf("%s: %w", program, err)
		}
		return "", fmt.Errorf("%s: %s", program, quote.Printable(said))
	}
	return strings.TrimSuffix(string(stdout), "\n"), nil
}

// A tail keeps the end of what is written to it: with the headers of servers, a log has any length.
type tail []byte

const maxTail = 1 << 20

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	if *t = append(*t, p...); len(*t) > 2*maxTail {
		*t = append((*t)[:0], (*t)[len(*t)-maxTail:]...)
	}
	return len(p), nil
}

package hostile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The kernel itself fails each system call on files of the built command, through strace: the N-th
// of each thread, until a run is undisturbed, once and from then on. make interop takes some N by chance,
// its long form all. cmd/jitinject's TestFaults does the same on the engine's own seam, with more errors.
// fcntl is left out: the Go runtime makes it before main, for the standard streams.

// straced are the calls, with the errors.
var straced = map[string][]string{
	"openat": {"EIO", "EMFILE"}, "read": {"EIO"}, "pread64": {"EIO", "ENOMEM"}, "write": {"EIO", "ENOSPC"}, "pwrite64": {"EIO", "ENOSPC"},
	"close": {"EIO"}, "fstat": {"EIO"}, "newfstatat": {"EIO"}, "getdents64": {"EIO"}, "lseek": {"EIO"}, "copy_file_range": {"EIO"},
	"renameat": {"EIO", "EACCES"}, "renameat2": {"EIO", "EINVAL"}, "linkat": {"EIO", "EPERM"}, "unlinkat": {"EIO", "EACCES"}, "mkdirat": {"EIO", "ENOSPC"}, "symlinkat": {"EIO"},
	"flock": {"ENOLCK"}, "fchmod": {"EIO"}, "utimensat": {"EIO"}, "faccessat2": {"EIO"}, "readlinkat": {"EIO"},
	"fsync": {"EIO", "ENOSPC"}, "syncfs": {"EIO"},
}

// maxCalls bounds N.
const maxCalls = 60

func TestFaults_Strace(t *testing.T) {
	if os.Getenv("JITINJECT_ALL") == "" {
		testrec.Skip(t, "JITINJECT_ALL is not set")
	}
	strace := testrec.Tool(t, "strace")
	rnd := rand.New(rand.NewPCG(testrec.Seed(t), 1))
	step := func(n int) int { // some of the calls, the first ones more often
		if os.Getenv("JITINJECT_ALL") == "every" {
			return 1
		}
		return 1 + rnd.IntN(n)
	}
	tried := 0
	for name, args := range map[string][]string{
		"default":   {"-i", "perf.data", "-o", "out.data"},
		"bundle":    {"-i", "perf.data", "-o", "out.data", "--bundle"},
		"cache":     {"-i", "perf.data", "-o", "out.data", "--buildid-cache=cache"},
		"directory": {"-i", "perf.data", "-o", "out.data", "--objects", "new/objects"},
		"clean":     {"clean", "injected.data"},
	} {
		t.Run(name, func(t *testing.T) {
			for call, errnos := range straced {
				for _, errno := range errnos {
					for _, every := range []string{"", "+"} {
						for n := 1; n <= maxCalls; n += step(n) {
							if !straceOnce(t, strace, args, call, errno, fmt.Sprintf("%d%s", n, every)) {
								break
							}
							tried++
						}
					}
				}
			}
		})
	}
	t.Logf("%d faults", tried)
}

var injected = regexp.MustCompile(`\(INJECTED\)`)

// straceOnce runs the command with one fault. It reports whether the fault happened.
func straceOnce(t *testing.T, strace string, args []string, call, errno, when string) bool {
	t.Helper()
	s := newStage(t, 3)
	if args[0] == "clean" {
		s.run("-i", "perf.data", "-o", "injected.data", "--objects", ".").wants(allInjected)
	}
	s.put("out.data", "an earlier result")
	s.put("out.data.old", "an older result")
	before := s.tree()
	log := filepath.Join(t.TempDir(), "strace")
	via := []string{strace, "-f", "-qq", "-o", log, "-E", "GOMAXPROCS=1", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%s", call, errno, when)}
	args = append([]string{}, args...)
	if args[0] != "clean" {
		args = append(args, "--jobs", "1")
	}
	r := s.runVia(via, args...)
	text, err := os.ReadFile(log)
	s.must(err)
	if !injected.Match(text) {
		return false
	}
	after := s.tree()
	diff := before.Diff(after)
	what := fmt.Sprintf("%s fails with %s, when=%s: exit code %d\n%s", call, errno, when, r.code, r.stderr)
	switch r.code {
	case allInjected:
		if args[0] == "clean" {
			if n := len(s.named("jitted-*")); n > 0 {
				t.Errorf("%s%d objects are still there", what, n)
			}
			break
		}
		s.shows("out.data", 3)
		if s.read("out.data.old") != "an earlier result" {
			t.Errorf("%sthe earlier result is not out.data.old", what)
		}
	case incomplete:
		if mute := call == "write" && strings.HasSuffix(when, "+"); r.stderr == "" && !mute {
			t.Errorf("%sthere is no message", what)
		}
		if args[0] != "clean" {
			s.shows("out.data", 0)
		}
	case notWritten:
		for _, line := range diff {
			name, _, _ := strings.Cut(line, ": ")
			isObject := strings.HasSuffix(name, ".so") && strings.Contains(r.stderr, "objects that were made stay in ")
			if !strings.Contains(r.stderr, filepath.Base(name)) && !isObject && !strings.HasPrefix(name, "cache") {
				t.Errorf("%s%s", what, line)
			}
		}
	default:
		t.Errorf("%sno such exit code", what)
	}
	if len(s.named(".*.partial")) > 0 && !strings.Contains(r.stderr, ".partial") && !strings.Contains(r.stderr, "removed") {
		t.Errorf("%sleft: %v", what, s.named(".*.partial"))
	}
	return true
}

func (s *stage) tree() faults.Tree {
	s.t.Helper()
	tree, err := faults.TreeOf(s.dir)
	s.must(err)
	return tree
}

// named returns the files with names that match a pattern.
func (s *stage) named(pattern string) []string {
	s.t.Helper()
	names, err := filepath.Glob(s.path(pattern))
	s.must(err)
	return names
}

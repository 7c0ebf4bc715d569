package jvmti_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A sanitizer is one or more of the compiler's checks. The VM is built without them: it loads
// their library first, and what they see is the agent, and calls of the C library by anyone.
type sanitizer struct {
	name, flag, library string
	env                 []string
}

// stackFormat puts the name of its module into each line of a stack.
const stackFormat = `stack_trace_format='    #%n %f %S %M'`

var sanitizers = []sanitizer{{
	name: "address-undefined", flag: "address,undefined", library: "libasan.so",
	// HotSpot uses these signals on purpose. The VM has many leaks of its own: short stacks make
	// the list quick. Its memory for threads is not for the search for leaks to read (use_tls).
	env: []string{
		"ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:detect_leaks=1:malloc_context_size=8:exitcode=0:" + stackFormat,
		"LSAN_OPTIONS=use_tls=0:exitcode=0", "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:" + stackFormat,
	},
}, {
	name: "thread", flag: "thread", library: "libtsan.so",
	// What the VM does with its own memory is not seen whole, and so not judged.
	env: []string{"TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=0:" + stackFormat},
}}

// agentName is the sanitized agent's, and part of each stack that the agent is in.
const agentName = "libagent-sanitized.so"

// compile makes the agent with the sanitizer. Flags and sources may be added.
func (s *sanitizer) compile(t *testing.T, args ...string) string {
	t.Helper()
	so, include := filepath.Join(t.TempDir(), agentName), jdkHome(t)+"/include"
	compileAgent(t, so, append([]string{"-O1", "-fPIC", "-fno-omit-frame-pointer", "-fvisibility=hidden", "-shared",
		"-fsanitize=" + s.flag, "-fno-sanitize-recover=undefined", "-I" + include, "-I" + include + "/linux"}, args...)...)
	return so
}

// preload returns what makes the VM load the sanitizer's library first. A VM of another release
// (script/java-root) has that release's library beside its command, and needs it.
func (s *sanitizer) preload(t *testing.T, v vm) string {
	t.Helper()
	own := filepath.Join(filepath.Dir(v.java), s.library)
	if _, err := os.Stat(own); err == nil {
		return "JITINJECT_PRELOAD=" + own
	}
	out, err := exec.Command(testrec.Tool(t, "gcc"), "-print-file-name="+s.library).Output()
	library := strings.TrimSpace(string(out))
	if err != nil || !filepath.IsAbs(library) {
		testrec.Missing(t, "%s of gcc: %s %v", s.library, out, err)
	}
	return "LD_PRELOAD=" + library
}

// command prepares a VM with the sanitizer's library. Its addresses are not random, where that is
// allowed: TSan ends a program that it finds at an address of its own.
func (s *sanitizer) command(t *testing.T, ctx context.Context, v vm, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"env", s.preload(t, v), v.java, "-Xmx256m"}, args...)
	if exec.Command("setarch", "-R", "true").Run() == nil {
		args = append([]string{"setarch", "-R"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), s.env...)
	return cmd
}

// findings returns the reports of faults that have the agent in a stack, and those that
// ended the program.
func findings(stderr string) []string {
	var all []string
	for _, report := range regexp.MustCompile(`(?m)^==================$`).Split(stderr, -1) {
		if strings.Contains(report, "WARNING: ThreadSanitizer") && strings.Contains(report, agentName) {
			all = append(all, report)
		}
	}
	for _, part := range strings.Split(stderr, "\n\n") {
		if strings.Contains(part, " leak of ") && strings.Contains(part, agentName) {
			all = append(all, part)
		}
	}
	fatal := regexp.MustCompile(`ERROR: AddressSanitizer|runtime error: |FATAL: |has encountered a fatal error`)
	if at := fatal.FindStringIndex(stderr); at != nil {
		all = append(all, stderr[at[0]:])
	}
	return all
}

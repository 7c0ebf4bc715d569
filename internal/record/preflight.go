package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
)

// installs are the commands that install perf, by ID of os-release(5).
var installs = []struct{ ids, command string }{
	{"debian", "apt install linux-perf"},
	{"ubuntu linuxmint", "apt install linux-tools-generic linux-tools-$(uname -r)"},
	{"fedora rhel centos rocky almalinux amzn ol", "dnf install perf"},
	{"opensuse suse sles", "zypper install perf"},
	{"arch", "pacman -S perf"},
	{"alpine", "apk add perf"},
}

// sudo puts sudo before a command for a user who is not root.
func sudo(command string) string {
	if os.Geteuid() == 0 {
		return command
	}
	return "sudo " + command
}

// FindPerf returns the path of perf. The error says how to install it.
func FindPerf() (string, error) {
	path, err := exec.LookPath("perf")
	if err == nil {
		return filepath.Abs(path)
	}
	if !errors.Is(err, exec.ErrNotFound) {
		return "", err
	}
	text := "perf is not installed, or not in PATH"
	if release, err := os.ReadFile("/etc/os-release"); err == nil {
		if command := installCommand(string(release)); command != "" {
			text += ": " + sudo(command)
		}
	}
	return "", errors.New(text)
}

// osID matches the names of a distribution, and of those that it is derived from.
var osID = regexp.MustCompile(`(?m)^ID(?:_LIKE)?=["']?([^"'\n]+)["']?$`)

// installCommand returns the command that installs perf on a distribution, or "".
func installCommand(release string) string {
	for _, m := range osID.FindAllStringSubmatch(release, -1) {
		for id := range strings.FieldsSeq(m[1]) {
			for _, i := range installs {
				if slices.Contains(strings.Fields(i.ids), id) {
					return i.command
				}
			}
		}
	}
	return ""
}

// Permitted returns an error if the kernel does not let the user record: own processes, or all.
func Permitted(systemWide bool) error {
	pid, cpu := 0, -1
	if systemWide {
		pid, cpu = -1, 0
	}
	err := tryEvent(pid, cpu)
	if err == nil {
		return nil
	}
	paranoid, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	return notPermitted(err, strings.TrimSpace(string(paranoid)), systemWide, os.Geteuid() == 0)
}

// tryEvent opens an event that each machine has, as perf_event_open(2), and closes it.
func tryEvent(pid, cpu int) error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER0, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	fd, err := unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// Recordable returns an error if a process does not run, or if only root may record it, whatever
// kernel.perf_event_paranoid is. command is the command line of jitinject.
func Recordable(pid string, command []string) error {
	n, err := strconv.Atoi(pid)
	if err != nil || !IsRunning(n) {
		return fmt.Errorf("there is no process %s", quote.Printable(pid))
	}
	if err := tryEvent(n, -1); os.Geteuid() != 0 && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) {
		return fmt.Errorf("process %d is another user's, so only root may record it: sudo %s", n, quote.ShellWords(command))
	}
	return nil // or perf says what it is
}

// notPermitted words the error of opening an event. It is nil if perf may have better luck.
func notPermitted(err error, paranoid string, systemWide, isRoot bool) error {
	if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
		return nil // perf says what it is
	}
	level, lerr := strconv.Atoi(paranoid)
	enough := 2 // users may record user space
	if systemWide {
		enough = 0
	}
	switch {
	case errors.Is(err, unix.ENOSYS):
		return errors.New("this kernel has no perf events, or this container hides them; record outside of the container")
	case isRoot || lerr == nil && level <= enough:
		return errors.New("perf events are not permitted, even to root: a container needs them when it is started, as with docker run --cap-add PERFMON --security-opt seccomp=unconfined")
	case systemWide:
		return fmt.Errorf("only root may record all processes while kernel.perf_event_paranoid is %s: sudo sysctl kernel.perf_event_paranoid=0", paranoid)
	}
	return fmt.Errorf("users may not record while kernel.perf_event_paranoid is %s: sudo sysctl kernel.perf_event_paranoid=1", paranoid)
}

// CanWrite reports whether files can be made in a directory.
func CanWrite(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// Copies of stacks that stacks of a runtime need (perf record --call-graph). PHP's code has no frame
// pointers, and python's frames are large.
const (
	phpStacks    = "dwarf,16384"
	pythonStacks = "dwarf,65528" // perf's most
)

// frequency returns the samples per second, the value of -F, at which copies of stacks fill 16 MB a
// second at most. perf's default of 4,000 would fill 256 MB with those of python.
func frequency(stacks string) string {
	if stacks == pythonStacks {
		return "199"
	}
	return "999"
}

// commandStacks returns the value of --call-graph that a command needs, or "" for frame pointers.
func commandStacks(command []string) string {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return ""
	}
	return stacksOf(interpreter(path))
}

// stacksOf returns the value of --call-graph that a program needs, or "".
func stacksOf(program string) string {
	if phpProgram.MatchString(program) {
		return phpStacks
	}
	m := pythonProgram.FindStringSubmatch(program)
	if m == nil {
		return ""
	}
	if minor, err := strconv.Atoi(m[1]); err == nil && minor < 13 {
		return "" // it writes no dump, so copies of stacks show no more
	}
	return pythonStacks
}

// javaPrograms start a VM.
var javaPrograms = strings.Fields("java kotlin scala groovy clojure clj lein mvn mvnw gradle gradlew ant sbt")

// NeedsAgent reports whether a command is known to start a VM of Java, and names no agent for it.
func NeedsAgent(command []string) bool {
	path, err := exec.LookPath(command[0])
	return err == nil && !strings.Contains(strings.Join(command, " "), " -agentpath:") && (slices.Contains(javaPrograms, filepath.Base(path)) || slices.Contains(javaPrograms, interpreter(path)))
}

var (
	phpProgram    = regexp.MustCompile(`^php(?:-fpm|-cgi)?[\d.]*$`)
	pythonProgram = regexp.MustCompile(`^python(?:3(?:\.(\d{1,3})[dt]*)?)?(?:-dbg)?$`)
)

// interpreter returns the name of the program that runs a file: its own, without links, or that after
// #!, which may be an argument of env.
func interpreter(path string) string {
	for range 4 { // the kernel follows as many
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		words := strings.Fields(hashBang(path))
		if len(words) == 0 {
			break
		}
		path = words[0]
		if filepath.Base(path) == "env" {
			words = slices.DeleteFunc(words[1:], func(w string) bool { return w[0] == '-' || strings.Contains(w, "=") })
			if len(words) == 0 {
				break
			}
			found, err := exec.LookPath(words[0])
			if err != nil {
				return filepath.Base(words[0])
			}
			path = found
		}
	}
	return filepath.Base(path)
}

// hashBang returns the first line of a script, without #!, or "".
func hashBang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 256) // the kernel reads as much
	n, _ := f.Read(b)
	line, ok := strings.CutPrefix(string(b[:n]), "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	return line
}

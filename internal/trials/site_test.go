package trials

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// within limits how long a program may take that has little to do, on a busy machine.
const within = 90 * time.Second

// A site is where a program runs: its working directory, the directory for its signs, and a home.
type site struct {
	t                *testing.T
	dir, signs, home string
	env              []string // more variables
	bin              string   // a directory of programs that is before others in PATH, or ""
	via              []string // the words of a program that starts the command, such as setpriv
	uid              int      // whose the directories are; 0 for the tester's
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteOf(t, "", 0)
}

// newSiteOf makes a site of a user. name is in the path of the working directory.
func newSiteOf(t *testing.T, name string, uid int) *site {
	t.Helper()
	top, err := os.MkdirTemp("", "trial-"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	s := &site{t: t, dir: filepath.Join(top, "dir"), signs: filepath.Join(top, "signs"), home: filepath.Join(top, "home"), uid: uid}
	for _, dir := range []string{top, s.dir, s.signs, s.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		os.Chmod(dir, 0o755)
		if uid != 0 {
			s.must(os.Chown(dir, uid, uid))
		}
	}
	return s
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// copy copies files from testdata, or of those that were built, into the working directory.
func (s *site) copy(from string, names ...string) {
	s.t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(from, name))
		s.must(err)
		s.must(os.WriteFile(s.path(name), b, 0o755))
	}
}

// list returns the files of the working directory, with a / after directories, but not what is in
// directories.
func (s *site) list() (names []string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	s.must(err)
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}

// leftInTmp returns files of dumps in /tmp, if it is the tests' own.
func leftInTmp() (names []string) {
	if os.Getenv("JITINJECT_PRIVATE_TMP") == "" {
		return nil
	}
	for _, pattern := range []string{"/tmp/jit-*.dump", "/tmp/jitted-*", "/tmp/perf-*.map", "/tmp/jitinject-*"} {
		found, _ := filepath.Glob(pattern)
		names = append(names, found...)
	}
	return names
}

// A process is a running program of a trial.
type process struct {
	site           *site
	cmd            *exec.Cmd
	what           string
	stdout, stderr bytes.Buffer
	tty            *os.File // the other side of its terminal, or nil
	ended          chan struct{}
}

// start starts a program in a session of its own, in a mode, with or without a terminal. Standard
// output and standard error are pipes.
func (s *site) start(mode string, terminal bool, argv ...string) *process {
	s.t.Helper()
	words := append(slices.Clone(s.via), argv...)
	p := &process{site: s, cmd: exec.Command(words[0], words[1:]...), what: strings.Join(argv, " "), ended: make(chan struct{})}
	if path := filepath.Join(s.bin, words[0]); s.bin != "" && exists(path) { // Command looks in the tests' PATH
		p.cmd.Path, p.cmd.Err = path, nil
	}
	p.cmd.Dir = s.dir
	p.cmd.Env = append(os.Environ(), "HOME="+s.home, "LC_ALL=C", "DEBUGINFOD_URLS=", "PERF_CONFIG=/dev/null", "npm_config_update_notifier=false",
		"TRIAL_MODE="+mode, "TRIAL_SIGNS="+s.signs, "TRIAL_TIME=1000")
	if s.bin != "" {
		p.cmd.Env = append(p.cmd.Env, "PATH="+s.bin+":"+os.Getenv("PATH"))
	}
	p.cmd.Env = append(p.cmd.Env, s.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.cmd.WaitDelay = 5 * time.Second // for processes that the program has left running
	if terminal {
		var slave *os.File
		p.tty, slave = openTerminal(s.t)
		defer slave.Close()
		p.cmd.Stdin, p.cmd.SysProcAttr.Setctty = slave, true
	}
	s.must(p.cmd.Start())
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	s.t.Cleanup(p.sweep)
	return p
}

// sweep ends all processes of the program's session.
func (p *process) sweep() {
	for range 50 {
		left := processesOf(p.cmd.Process.Pid)
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if p.tty != nil {
		p.tty.Close()
		p.tty = nil
	}
}

// processesOf returns the living processes of a session.
func processesOf(session int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 3 && fields[0] != "Z" && fields[3] == strconv.Itoa(session) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ready waits until the program is ready, and has run for a moment. It returns the program's pid.
func (p *process) ready() int {
	p.site.t.Helper()
	var pid int
	p.until("the program is ready", func() bool {
		b, err := os.ReadFile(filepath.Join(p.site.signs, "ready"))
		line, _, ok := strings.Cut(string(b), "\n")
		if err != nil || !ok {
			return false
		}
		pid, err = strconv.Atoi(line)
		return err == nil
	})
	p.samples(pid)
	return pid
}

// samples waits until a process has run for a while, so that there are samples of its last function.
// A process of a pid namespace has another number here.
func (p *process) samples(pid int) {
	const ticks, patience = 25, 2 * time.Second
	begin, end := ranFor(pid), time.Now().Add(patience)
	for (len(p.site.via) > 0 || ranFor(pid) < begin+ticks) && time.Now().Before(end) {
		time.Sleep(10 * time.Millisecond)
	}
}

// ranFor returns the user time of a process, in ticks of 10 ms.
func ranFor(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	n, _ := strconv.Atoi(fields[11])
	return n
}

// until waits for a state, while the program runs.
func (p *process) until(what string, is func() bool) {
	p.site.t.Helper()
	for end := time.Now().Add(within); !is(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.ended:
			p.site.t.Fatalf("%s: it ended with %d before %s\n%s%s", p.what, p.code(), what, p.stdout.String(), p.stderr.String())
		default:
		}
		if time.Now().After(end) {
			p.sweep()
			p.site.t.Fatalf("%s: got no sign that %s", p.what, what)
		}
	}
}

// wait waits until the program ends, and returns its exit code as a shell has it.
func (p *process) wait() int {
	p.site.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(within):
		p.sweep()
		<-p.ended
		p.site.t.Fatalf("%s: it does not end\n%s%s", p.what, p.stdout.String(), p.stderr.String())
	}
	return p.code()
}

func (p *process) code() int {
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// signals returns the signals that the program noted, and forgets all signs.
func (s *site) signals() (names []string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.signs, "signals"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	for _, name := range []string{"ready", "signals"} {
		os.Remove(filepath.Join(s.signs, name))
	}
	return strings.Fields(string(b))
}

// openTerminal opens a new terminal: the side of the user, and that of programs.
func openTerminal(t *testing.T) (user, programs *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		testrec.Skip(t, "there are no terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		programs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		user.Close()
		t.Fatal(err)
	}
	return user, programs
}

// A dumpSummary is what these tests read of a dump in inject's summary.
type dumpSummary struct {
	PID         int    `json:"pid"`
	Command     string `json:"command"`
	Path        string `json:"path"`
	Functions   int    `json:"functions"`
	WithInlines int    `json:"with_inlines"`
	Samples     struct {
		InJittedCode int `json:"in_jitted_code"`
		Resolved     int `json:"resolved"`
	} `json:"samples"`
}

// A summary is what these tests read of inject's summary.
type summary struct {
	Dumps   []dumpSummary `json:"dumps"`
	Samples struct {
		Total        int `json:"total"`
		InJittedCode int `json:"in_jitted_code"`
		Resolved     int `json:"resolved"`
		Early        int `json:"early"`
		WithoutDump  int `json:"without_dump"`
	} `json:"samples"`
}

// summary injects the recording once more, from the kept files, into another place.
func (s *site) summary() (sum summary) {
	s.t.Helper()
	out, err := os.MkdirTemp(filepath.Dir(s.dir), "again-")
	s.must(err)
	defer os.RemoveAll(out)
	cmd := exec.Command(program, "-f", "-i", "perf.data", "-o", filepath.Join(out, "again.data"), "--bundle", "--dump-dir", "perf.jit.files", "--objects", out, "--summary", "json")
	cmd.Dir = s.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err := json.Unmarshal(text, &sum); err != nil {
		s.t.Fatalf("inject with the kept files: %v\n%s", err, stderr.String())
	}
	if err != nil {
		s.t.Logf("inject with the kept files: %v\n%s", err, stderr.String())
	}
	return sum
}

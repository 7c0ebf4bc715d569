package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/addr2line"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// command runs the program in dir, with nothing on standard input and the
// terminal's place taken by /dev/null.
func command(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var errs bytes.Buffer
	// Output that is asked for goes to a file; without --summary json or version
	// there is none, and /dev/null stands for the terminal.
	out := null
	for _, a := range args {
		if slices.Contains([]string{"json", "version", "--version", "help", "completion", "fetch", "clean", "-h", "--help"}, a) {
			if out, err = os.CreateTemp(t.TempDir(), "out"); err != nil {
				t.Fatal(err)
			}
			defer out.Close()
		}
	}
	code = run(append([]string{"jitinject"}, args...), null, out, &errs)
	if out != null {
		b, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		stdout = string(b)
	}
	return code, stdout, errs.String()
}

// Options of perf inject that change nothing with --jit are accepted, and a note names them.
func TestOptions_ThatChangeNothing(t *testing.T) {
	dir := testrec.Place(t, "php")
	for _, args := range []string{"-k vmlinux", "--vmlinux=x", "--kallsyms /proc/kallsyms", "--ignore-vmlinux", "--guestmount d", "--known-build-ids a=b", "--unwind-style libdw"} {
		name := strings.TrimLeft(strings.FieldsFunc(strings.Replace(args, "-k ", "--vmlinux ", 1), func(r rune) bool { return r == ' ' || r == '=' })[0], "-")
		code, _, stderr := command(t, dir, append([]string{"-j"}, strings.Fields(args)...)...)
		if want := "note: --" + name + " changes nothing for jitted code\n"; code != exitOK || !strings.Contains(stderr, want) {
			t.Errorf("%q: got exit code %d, %s; want %d, %q", args, code, stderr, exitOK, want)
		}
		if code, _, stderr := command(t, dir, append([]string{"-q"}, strings.Fields(args)...)...); code != exitOK || stderr != "" {
			t.Errorf("-q %s: got exit code %d, %q; want %d and no words", args, code, stderr, exitOK)
		}
	}
}

// perf's spelling: short options together, abbreviations, --no-.
func TestSpelling_ShortAndAbbreviated(t *testing.T) {
	for _, args := range []string{
		"",
		"inject",
		"-j",
		"--jit",
		"-jf",
		"-jvv",
		"-i perf.data -o perf.jit.data",
		"-iperf.data -operf.jit.data",
		"--input=perf.data --output perf.jit.data",
		"--inp perf.data --outp=perf.jit.data",
		"--no-force",
		"--no-jit --jit",
		"--no-force --force",
		"--dw 4 --jo 1 --str",
		"--i perf.data --o perf.jit.data --f --j",
		"--verb --verb --no-verbose --ver --no-verb",
		"--dump-dir . --dump-dir .",
		"--dump 10085=jit-10085.dump",
	} {
		dir := testrec.Place(t, "php")
		code, _, stderr := command(t, dir, strings.Fields(args)...)
		if code != exitOK || !strings.Contains(stderr, "10085 php         44      151     100 %  ") || !strings.Contains(stderr, "perf.jit.data: 44 mappings") {
			t.Errorf("%q: exit code %d\n%s", args, code, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "perf.jit.data")); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestUsage_Errors(t *testing.T) {
	for args, want := range map[string]string{
		"--frobnicate":             "jitinject: there is no option --frobnicate; see jitinject help inject\n",
		"-Z":                       "there is no option -Z",
		"perf.data":                "there is no file perf.data",
		"--s x":                    "--s may be --",
		"--o":                      "--output needs a value",
		"--v":                      "--v may be --",
		"--input=":                 "--input: the name is empty",
		"--output=":                "--output: the name is empty",
		"--objects=":               "--objects: the name is empty",
		"--sources=":               "--sources: the name is empty",
		"--buildid-cache=":         "--buildid-cache: the name is empty",
		"--dump-dir=":              "--dump-dir: the name is empty",
		"--dump-dir=. --dump-dir=": "--dump-dir: the name is empty",
		"--unwind-style":           "--unwind-style needs a value",
		"--dwarf 3":                "--dwarf 3: the versions are 4 and 5",
		"--dwarf":                  "--dwarf needs a value",
		"--dwarf x":                `--dwarf "x": it takes a number`,
		"--live 0":                 "--live 0: it takes the number of a process",
		"--jobs 0":                 "--jobs 0: it takes a number from 1 on",
		"-k":                       "--vmlinux needs a value",
		"--guest-data x":           "run perf inject --guest-data on the output",
		"--jobs -1":                "--jobs -1",
		"--summary xml":            "use text or json",
		"--no-jit":                 "leaves nothing to do",
		"-b":                       "--build-ids is not about jitted code; run perf inject --build-ids on the output",
		"--strip":                  "run perf inject --strip on the output",
		"--itrace=i100us":          "run perf inject --itrace on the output",
		"--buildid-all":            "run perf inject --buildid-all on the output",
		"-o - --summary json":      "both want standard output",
		"--clock soon":             "--clock soon: invalid value; use auto, strict, or a number of nanoseconds",
		"--dump jit-5.dump":        "--dump jit-5.dump: it takes PID=FILE",
		"--dump 5=":                "--dump 5=: it takes PID=FILE",
		"--dump 5=a --dump 5=b":    "--dump 5=b: a dump of process 5 was named already",
		"--vm-time-correlation":    "run perf inject --vm-time-correlation",
	} {
		dir := t.TempDir()
		code, _, stderr := command(t, dir, strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, want %q:\n%s", args, code, want, stderr)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%q leaves %v", args, left)
		}
	}
}

// start runs the program with the given standard input and output, in the current
// directory.
func start(stdin, stdout *os.File, args ...string) (code int, stderr string) {
	var errs bytes.Buffer
	code = run(append([]string{"jitinject"}, args...), stdin, stdout, &errs)
	return code, errs.String()
}

// What a bare command reads and writes depends on what it is started from.
func TestDefaults_Redirected(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	dir := testrec.Place(t, "php")
	t.Chdir(dir)
	recording, err := os.ReadFile("perf.data")
	if err != nil {
		t.Fatal(err)
	}
	pipeDir := testrec.Unpack(t, "node-pipe")
	recorded, err := os.ReadFile(filepath.Join(pipeDir, "perf.pipe.data"))
	if err != nil {
		t.Fatal(err)
	}
	over, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	defer over.Close()
	for name, c := range map[string]struct {
		stdin  func(t *testing.T) *os.File
		args   string
		stream bool // the result goes to standard output
	}{
		"/dev/null":                {func(*testing.T) *os.File { return null }, "", false},
		"a pipe that is over":      {func(*testing.T) *os.File { return over }, "", false},
		"a file":                   {func(t *testing.T) *os.File { return open(t, "perf.data") }, "", true},
		"a file, output named":     {func(t *testing.T) *os.File { return open(t, "perf.data") }, "-o perf.jit.data", false},
		"a file, but another one":  {func(t *testing.T) *os.File { return open(t, os.Args[0]) }, "-i perf.data", false},
		"standard output is named": {func(*testing.T) *os.File { return null }, "-i perf.data -o -", true},
		"a recording in a pipe":    {func(t *testing.T) *os.File { return piped(t, recorded, true) }, "--dump-dir " + pipeDir, true},
		"a list in a pipe":         {func(t *testing.T) *os.File { return piped(t, []byte("one\ntwo\n"), true) }, "", false},
		"a list that goes on":      {func(t *testing.T) *os.File { return piped(t, []byte("PERFECT\n"), false) }, "", false},
		"a short list":             {func(t *testing.T) *os.File { return piped(t, []byte("PERF"), true) }, "", false},
		"it is for the summary":    {func(t *testing.T) *os.File { return open(t, "perf.data") }, "--summary json", false},
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove("perf.jit.data")
			out, err := os.Create(filepath.Join(t.TempDir(), "redirected"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if code, stderr := start(c.stdin(t), out, strings.Fields(c.args)...); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			got, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			_, err = os.Stat("perf.jit.data")
			if c.stream != bytes.HasPrefix(got, []byte("PERFILE2\x10")) || c.stream == (err == nil) {
				t.Errorf("%d bytes on standard output, %q; perf.jit.data: %v", len(got), got[:min(16, len(got))], err)
			}
			if now, _ := os.ReadFile("perf.data"); !bytes.Equal(now, recording) {
				t.Error("the recording has changed")
			}
		})
	}
}

// piped returns a pipe with something in it, which may be all that will come.
func piped(t *testing.T, content []byte, all bool) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	go func() {
		w.Write(content[:min(3, len(content))]) // it comes in pieces
		w.Write(content[min(3, len(content)):])
		if all {
			w.Close()
		}
	}()
	return r
}

// Started by a script, a bare command has pipes that are nobody's recordings. What a loop
// goes through stays for the loop.
func TestDefaults_InScripts(t *testing.T) {
	t.Chdir(testrec.Place(t, "php"))
	list := piped(t, []byte("one\ntwo\n"), true)
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	code, stderr := start(list, w)
	w.Close()
	said, _ := io.ReadAll(out)
	left, _ := io.ReadAll(list)
	if _, err := os.Stat("perf.jit.data"); err != nil || code != exitOK || len(said) > 0 || string(left) != "one\ntwo\n" || !strings.Contains(stderr, "standard input is not a recording; reading perf.data") {
		t.Errorf("exit code %d, %v, %q on standard output, %q left\n%s", code, err, said, left, stderr)
	}
	// As with perf inject, the result of an input that is named goes into a pipe.
	out, w, err = os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	result := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(out)
		result <- b
	}()
	code, stderr = start(open(t, os.DevNull), w, "-i", "perf.data")
	w.Close()
	if b := <-result; code != exitOK || !bytes.HasPrefix(b, []byte("PERFILE2\x10")) {
		t.Errorf("exit code %d, %.20q\n%s", code, b, stderr)
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestHelp_EveryWayToAsk(t *testing.T) {
	for _, args := range []string{"help", "-h", "--help", "inject --help"} {
		if code, stdout, stderr := command(t, t.TempDir(), strings.Fields(args)...); code != exitOK || !strings.HasPrefix(stdout, "usage: jitinject") || stderr != "" {
			t.Errorf("%s: exit code %d, %q", args, code, stderr)
		}
	}
}

func TestExitCode_EveryOutcome(t *testing.T) {
	dir := testrec.Place(t, "node-forks")
	code, _, stderr := command(t, dir)
	if code != exitOK {
		t.Errorf("all dumps there: exit code %d\n%s", code, stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "jit-9995.dump"), []byte("\x1b[31mgarbage"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr = command(t, dir)
	if code != exitIncomplete || !strings.Contains(stderr, "jit-9995.dump: not a jitdump file") || !strings.Contains(stderr, "9987 node      2,213") {
		t.Errorf("a bad dump: exit code %d\n%s", code, stderr)
	}
	code, _, stderr = command(t, dir, "--strict", "-o", "strict.data")
	if code != exitFailed || !strings.Contains(stderr, "--strict") {
		t.Errorf("a bad dump, strict: exit code %d\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "strict.data")); err == nil {
		t.Error("strict, and yet there is an output")
	}
	code, _, stderr = command(t, dir, "-i", "missing.data")
	if code != exitFailed || stderr != "jitinject: missing.data: there is no such file; make one with jitinject record COMMAND, or name it with -i\n" {
		t.Errorf("no input: exit code %d\n%s", code, stderr)
	}
}

func TestQuiet_OnlyErrors(t *testing.T) {
	dir := testrec.Place(t, "php")
	if code, _, stderr := command(t, dir, "-q"); code != exitOK || stderr != "" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestExitCode_NothingToInject(t *testing.T) {
	dir := t.TempDir()
	rec := testrec.NewRecording()
	rec.Comm(1, 1000, "prog", true)
	rec.Write(t, filepath.Join(dir, "perf.data"))
	code, _, stderr := command(t, dir)
	if code != exitOK || !strings.Contains(stderr, "perf.data: nothing to inject; perf.jit.data is a copy.\nthere are no samples in it\n    check that the program ran") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// Names from files go to terminals, and must not steer them.
func TestOutput_EscapeSequencesInNames(t *testing.T) {
	dir := t.TempDir()
	rec := testrec.NewRecording()
	rec.Marker(1, 1000, "/no\x1b[2J\n/jit-1.dump")
	rec.Write(t, filepath.Join(dir, "perf.data"))
	code, _, stderr := command(t, dir)
	if code != exitFailed || strings.Contains(stderr, "\x1b") || !strings.Contains(stderr, `/no\x1b[2J\n/jit-1.dump is gone`) {
		t.Errorf("exit code %d\n%q", code, stderr)
	}
}

func TestSummary_JSON(t *testing.T) {
	dir := testrec.Place(t, "erlang")
	code, stdout, stderr := command(t, dir, "--summary", "json", "-o", "out.data")
	var sum report.Summary
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil || code != exitOK || stderr != "" {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if len(sum.Dumps) != 1 || sum.Dumps[0].Functions != 15817 || sum.Dumps[0].WithLines != 6098 || sum.Objects != 15817 || len(sum.Dumps[0].Fixes) == 0 {
		t.Errorf("summary %+v", sum)
	}
}

// A recording without -k mono: estimated, given, refused.
func TestClockOption_EstimatedGivenRefused(t *testing.T) {
	dir := testrec.Place(t, "node-noclock")
	for args, want := range map[string]string{
		"":                     "its times are estimated to be -0.016730 s off; functions may be there up to 7.9 ms too early",
		"--clock -10090001":    "-0.010090 s were added to its times, as --clock says",
		"-i mono.data --cl 10": "+0.000000 s were added to its times",
	} {
		if code, _, stderr := command(t, dir, strings.Fields(args)...); code != exitOK || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, want %q\n%s", args, code, want, stderr)
		}
	}
	if code, _, stderr := command(t, dir, "--clock", "strict", "-o", "strict.data"); code != exitFailed || !strings.Contains(stderr, "perf record -k mono") {
		t.Errorf("strict: exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := command(t, dir, "-i", "mono.data"); code != exitOK || strings.Contains(stderr, "its times") {
		t.Errorf("-k mono: exit code %d\n%s", code, stderr)
	}
	_, stdout, _ := command(t, dir, "--summary", "json")
	var sum report.Summary
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil || sum.Dumps[0].Clock != (report.Clock{Kind: "estimated", Offset: -16729696, Error: 7885121}) {
		t.Errorf("got %v; want no error, Dumps[0].Clock = %+v\n%s", err, report.Clock{Kind: "estimated", Offset: -16729696, Error: 7885121}, stdout)
	}
}

func TestVersion_Printed(t *testing.T) {
	for _, args := range []string{"version", "--version"} {
		code, stdout, _ := command(t, t.TempDir(), args)
		if code != exitOK || !strings.HasPrefix(stdout, "jitinject version ") {
			t.Errorf("%s: exit code %d, %q", args, code, stdout)
		}
	}
	if code, stdout, _ := command(t, t.TempDir(), "help"); code != exitOK || !strings.HasPrefix(stdout, "usage: ") {
		t.Errorf("help: exit code %d, %q", code, stdout)
	}
}

// Installed under the name perf-jitinject, it is a command of perf.
func TestPerfJitinject_ByItsName(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	dir := t.TempDir()
	if err := testrec.Build(filepath.Join(dir, "perf-jitinject")); err != nil {
		t.Fatal(err)
	}
	cmd := testrec.Command(t, dir, perf, "jitinject", "version")
	cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "jitinject version ") {
		t.Errorf("got %v; want no error, out that begins with \"jitinject version \"\n%s", err, out)
	}
}

// beProgram makes the test binary the program: signals must go to a process.
const beProgram = "JITINJECT_TEST_BE_PROGRAM"

func TestMain(m *testing.M) {
	if addr2line.IsFilter(os.Args) {
		os.Exit(addr2line.Filter(os.Args))
	}
	if os.Getenv(beProgram) != "" {
		os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	heed(os.Interrupt, syscall.SIGHUP)
	testrec.Main(m)
}

// heed has programs that tests start obey signals, where the tests themselves were
// started to ignore them.
func heed(signals ...os.Signal) {
	for _, sig := range signals {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

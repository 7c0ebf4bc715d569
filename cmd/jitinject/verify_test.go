package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
)

// verifyCommand runs jitinject verify in a directory.
func verifyCommand(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	code, stderr = start(nil, out, append([]string{"verify"}, args...)...)
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, string(b), stderr
}

// Severities have colours on a terminal, unless NO_COLOR is set, and nowhere else.
func TestVerifyCommand_ColoursOnTerminalOnly(t *testing.T) {
	dir := testrec.Place(t, "lli-hot")
	dump := testrec.Dumps(t, dir)[0]
	const plain, coloured = ": error: ", ": \x1b[1;31merror:\x1b[m "
	for _, c := range []struct {
		noColor, term, option string
		want, no              string
	}{
		{"", "xterm", "-q", coloured, plain},
		{"1", "xterm", "-q", plain, "\x1b"},
		{"", "dumb", "-q", plain, "\x1b"},
		{"", "xterm", "--json", `"severity":"error"`, "\x1b"},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		tty := openTerminal(t)
		code, stderr := start(nil, tty.slave, "verify", "--producer", c.option, dump)
		if out := tty.close(); code != exitIncomplete || !strings.Contains(out, c.want) || strings.Contains(out, c.no) {
			t.Errorf("for %+v: got exit code %d, %s%q; want %q, and no %q", c, code, stderr, out, c.want, c.no)
		}
	}
	t.Setenv("NO_COLOR", "")
	if _, stdout, _ := verifyCommand(t, dir, "-q", "--producer", dump); !strings.Contains(stdout, plain) || strings.Contains(stdout, "\x1b") {
		t.Errorf("in a file: got %q; want no colours", stdout)
	}
}

// The command says what is wrong, and its exit code whether anything is.
func TestVerifyCommand_ExitCode(t *testing.T) {
	dir := testrec.Place(t, "lli-hot")
	if code, _, stderr := command(t, dir); code != exitOK {
		t.Fatal(stderr)
	}
	step := func(args string, want int, texts ...string) string {
		t.Helper()
		code, stdout, stderr := verifyCommand(t, dir, strings.Fields(args)...)
		if code != want {
			t.Errorf("%q: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
		}
		for _, text := range texts {
			if !strings.Contains(stdout+stderr, text) {
				t.Errorf("%q says %q, want %q", args, stdout+stderr, text)
			}
		}
		return stdout
	}
	step("", exitUsage, "verify needs the names", "jitinject verify --help")
	step("--frob perf.data", exitUsage, "there is no option --frob")
	step("--explain dump/nonsense", exitUsage, `there is no rule "dump/nonsense"`)
	step("--explain dump/lines-skewed", exitOK, "dump/lines-skewed (error)", "Usual cause: ", "Advice: Write the addresses as they are.")
	step("--explain lines-skewed", exitUsage, `did you mean dump/lines-skewed?`)
	step("--explain dump/pad nonsense", exitUsage, `there is no rule "nonsense"`)
	step("--explain dump/pad dump/vma", exitOK, "dump/pad (note)", "dump/vma (warning)")
	step("--rules perf.data", exitUsage, "takes no files")
	for line := range strings.Lines(step("--rules --json", exitOK, `"rule":"dump/magic"`)) {
		var rule map[string]string
		if err := json.Unmarshal([]byte(line), &rule); err != nil || rule["severity"] == "" || rule["advice"] == "" {
			t.Errorf(`%s: got %v; want no error, rule["severity"] other than "", rule["advice"] other than ""`, line, err)
		}
	}
	step("--rules", exitOK, "dump/magic", "recording/order", "object/frame-header")
	step("--help", exitOK, "usage: jitinject verify", "--recording")
	step("nowhere.data", exitFailed, "nowhere.data: no such file")
	step("hot.c", exitFailed, "neither a jitdump")
	if out := step(".", exitFailed, ".: this recording will show no jitted functions: it is", "jitinject: .: it is a directory without a file called data, so perf record did not make it"); strings.Contains(out, "[recording/header]") {
		t.Errorf("a directory that is no recording: got %s; want no rule", out)
	}
	step("perf.jit.data", exitOK, "perf.jit.data: this result shows 320 of all 343 samples in jitted functions\n", "perf.jit.data: perf.data, ", "2 mappings of 2 objects: no faults")
	step("--all perf.jit.data", exitOK, "2 mappings of 2 objects: no problems found")
	step("jitted-585-1.so", exitOK, "ELF object, 1 function: no faults")
	step("--all perf.data", exitOK, "to see them: jitinject -i perf.data\n", "no problems found")
	step("jit-585.dump", exitOK, "jit-585.dump: jitdump, 4 records, 2 functions: repaired by jitinject: 5 faults of its runtime (--all shows them)\n")
	step("--all jit-585.dump", exitOK, "2 errors, 3 warnings, ")
	out := step("--producer jit-585.dump", exitIncomplete, "jit-585.dump:0x28: warning: ", "are 0x40 too high", "jitdump, 4 records, 2 functions: 2 errors, 3 warnings, ")
	if n := strings.Count(out, "Write the addresses as they are."); n != 1 {
		t.Errorf("the advice is given %d times:\n%s", n, out)
	}
	if out := step("-q --producer jit-585.dump", exitIncomplete); strings.Contains(out, "warning") || strings.Contains(out, "records") {
		t.Errorf("-q says %s", out)
	}
	// A note is about a machine that has not been up for as long as the recorded one.
	for line := range strings.Lines(step("--json --producer jit-585.dump", exitIncomplete)) {
		var c struct {
			File, Rule, Severity, Text, Advice string
			Offset                             *int64
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.File != "jit-585.dump" || c.Rule == "" || c.Text == "" || c.Advice == "" || c.Offset == nil || !slices.Contains([]string{"error", "warning", "note"}, c.Severity) {
			t.Errorf(`%s: got %v; want no error, c.File = "jit-585.dump", c.Rule other than "", c.Text other than "", c.Advice other than "", c.Offset not nil, []string{"error", "warning", "note"} with %v`, line, err, c.Severity)
		}
	}
	odd := "jit-\u009b31m<.dump"
	if err := os.WriteFile(filepath.Join(dir, odd), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	step("--json "+odd, exitIncomplete, `"file":"jit-\u009b31m<.dump"`)
	step("-q perf.jit.data jit-585.dump nowhere", exitFailed, "nowhere: no such file")
	if err := os.Remove(filepath.Join(dir, "jitted-585-1.so")); err != nil {
		t.Fatal(err)
	}
	step("perf.jit.data", exitIncomplete, "[recording/object-missing]")
}

// A dump beside its recording, and beside one that is not its own.
func TestVerifyCommand_DumpBesideRecording(t *testing.T) {
	dir, other := testrec.Place(t, "toyjit"), testrec.Place(t, "php")
	dump := filepath.Base(testrec.Dumps(t, dir)[0])
	if code, stdout, _ := verifyCommand(t, dir, "perf.data", dump); code != exitOK || !strings.Contains(stdout, "13 functions: ") || strings.Contains(stdout, "warning: ") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if code, stdout, _ := verifyCommand(t, dir, filepath.Join(other, "perf.data"), dump); code != exitOK || !strings.Contains(stdout, "[dump/other-process]") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if code, stdout, _ := verifyCommand(t, dir, filepath.Join(other, "perf.data"), "perf.data", dump); code != exitOK || !strings.Contains(stdout, "13 functions: ") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if code, stdout, _ := verifyCommand(t, dir, "--recording", filepath.Join(other, "perf.data"), dump); code != exitIncomplete || !strings.Contains(stdout, "[dump/marker]") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}

// The preview of a recording uses the logs and traces of its processes that are named with it. A result with
// their calls has no faults.
func TestVerifyCommand_RecordingWithCalls(t *testing.T) {
	monoDir, xrayDir := testrec.Place(t, "mono-calls"), testrec.Place(t, "xray-emulated")
	traces, err := filepath.Glob(filepath.Join(xrayDir, "xray-log.*"))
	if err != nil || len(traces) != 1 {
		t.Fatalf("got %+v, %v; want no error, 1 trace", traces, err)
	}
	for _, c := range []struct{ dir, log, option, other string }{
		{monoDir, filepath.Join(monoDir, "app.mlpd"), "--mono", traces[0]},
		{xrayDir, traces[0], "--xray", filepath.Join(monoDir, "app.mlpd")},
	} {
		if code, stdout, _ := verifyCommand(t, c.dir, "perf.data", c.other); code != exitIncomplete || !strings.Contains(stdout, filepath.Base(c.other)+": it ") {
			t.Errorf("%s: with the log of another process: exit code %d\n%s", c.option, code, stdout)
		}
		for _, files := range [][]string{{"perf.data", c.log}, {c.log, "perf.data"}} {
			if code, stdout, stderr := verifyCommand(t, c.dir, files...); code != exitOK || !strings.Contains(stdout, ": this recording will show ") || strings.Count(stdout, ": perf.data, ") != 1 {
				t.Errorf("%q: got exit code %d, %s%s", files, code, stdout, stderr)
			}
		}
		if code, _, stderr := command(t, c.dir, c.option, c.log); code != exitOK {
			t.Fatal(stderr)
		}
		pipe, err := os.Create(filepath.Join(c.dir, "pipe.data"))
		if err != nil {
			t.Fatal(err)
		}
		code, stderr := start(nil, pipe, "-i", "perf.data", c.option, c.log, "-o", "-")
		if pipe.Close(); code != exitOK {
			t.Fatal(stderr)
		}
		for _, result := range []string{"perf.jit.data", "pipe.data"} {
			if code, stdout, _ := verifyCommand(t, c.dir, result); code != exitOK || !strings.Contains(stdout, ": no faults") {
				t.Errorf("%s: %s: exit code %d\n%s", c.option, result, code, stdout)
			}
		}
	}
}

// A recording begins with what it will show, and what costs the rest. The dump says nothing of that again.
func TestVerifyCommand_CutDump(t *testing.T) {
	dir := testrec.Place(t, "node-fp")
	dump := filepath.Base(testrec.Dumps(t, dir)[0])
	const whole = "perf.data: this recording will show 285 of 285 samples in jitted code\n    to see them: jitinject -i perf.data\n"
	code, stdout, _ := verifyCommand(t, dir, "perf.data", dump)
	if code != exitOK || !strings.HasPrefix(stdout, whole) || !strings.Contains(stdout, "repaired by jitinject: 33 faults") || strings.Contains(stdout, "error: ") {
		t.Errorf("got exit code %d\n%s\nwant 0, and %s", code, stdout, whole)
	}
	path := filepath.Join(dir, dump)
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, b[:len(b)/2], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, _ = verifyCommand(t, dir, "perf.data", dump)
	if code != exitIncomplete || !strings.HasPrefix(stdout, "perf.data: this recording will show 0 of 284 samples in jitted code\n    "+dir+"/"+dump+": it ends inside a record") || strings.Contains(stdout, "[dump/") {
		t.Errorf("got exit code %d\n%s\nwant 1, and the cut once", code, stdout)
	}
	if code, stdout, _ := verifyCommand(t, dir, dump); code != exitIncomplete || !strings.Contains(stdout, "warning: the file ends inside a record") || !strings.Contains(stdout, "Advice: Let the program end by itself") {
		t.Errorf("without its recording: got exit code %d\n%s\nwant 1, and the cut", code, stdout)
	}
	code, stdout, _ = verifyCommand(t, dir, "--json", "perf.data")
	var preview struct {
		File     string
		Samples  struct{ In_jitted_code, Resolved int }
		Problems []struct{ Text string }
	}
	if line, _, _ := strings.Cut(stdout, "\n"); json.Unmarshal([]byte(line), &preview) != nil || code != exitIncomplete || preview.Samples.In_jitted_code != 284 || preview.Samples.Resolved != 0 || len(preview.Problems) != 1 {
		t.Errorf("--json: got exit code %d\n%s", code, stdout)
	}
}

// A preview looks for dumps where an injection does. Its advice is a command that works when typed.
func TestVerifyCommand_DumpElsewhere(t *testing.T) {
	dir := testrec.Place(t, "toyjit")
	dump := testrec.Dumps(t, dir)[0]
	move := func(name string) {
		t.Helper()
		err := os.MkdirAll(filepath.Join(dir, name), 0o700)
		if err == nil {
			err = os.Rename(dump, filepath.Join(dir, name, filepath.Base(dump)))
		}
		if err != nil {
			t.Fatal(err)
		}
		dump = filepath.Join(dir, name, filepath.Base(dump))
	}
	move("dumps")
	const advice = "if you have it, name its directory with jitinject -i perf.data --dump-dir "
	code, stdout, _ := verifyCommand(t, dir, "perf.data")
	if code != exitIncomplete || !strings.Contains(stdout, advice+"DIR\n") {
		t.Errorf("without the dump: got exit code %d\n%s\nwant 1, and %q", code, stdout, advice)
	}
	if code, _, stderr := command(t, dir, "-i", "perf.data", "--dump-dir", "dumps", "-o", "typed.data"); code != exitOK {
		t.Errorf("the advice: got exit code %d, %s", code, stderr)
	}
	move("perf.jit.files/.jitinject") // of record
	move("perf.jit.files")
	if code, stdout, _ := verifyCommand(t, dir, "perf.data"); code != exitOK || strings.Contains(stdout, "is gone") {
		t.Errorf("after jitinject record: got exit code %d\n%s\nwant 0, and the dump found", code, stdout)
	}
	if code, _, stderr := command(t, dir, "-i", "perf.data"); code != exitOK {
		t.Errorf("an injection after jitinject record: got exit code %d, %s", code, stderr)
	}
}

// Advice that names another command, or no option of an injection, stays.
func TestInCommand_OnlyOurOptions(t *testing.T) {
	const inject = "jitinject -i app.data"
	for advice, want := range map[string]string{
		"name it with --dump 7=FILE":                          "name it with " + inject + " --dump 7=FILE",
		"name its directory with --dump-dir; or record again": "name its directory with " + inject + " --dump-dir; or record again",
		"name its directory with --dump-dir":                  "name its directory with " + inject + " --dump-dir DIR",
		"again: jitinject -i x --live 7":                      "again: jitinject -i x --live 7",
		"start node with --perf-prof":                         "start node with --perf-prof",
		"record again with perf record -k mono":               "record again with perf record -k mono",
	} {
		if got := inCommand(advice, inject); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A file that only its runtime could mend is not checked, and costs no exit code.
func TestVerifyCommand_Unchecked(t *testing.T) {
	log, err := filepath.Abs("../../internal/format/v8log/testdata/node25.log")
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := verifyCommand(t, t.TempDir(), log); code != exitOK || stdout != "" || !strings.Contains(stderr, "it is a log of V8, which is not checked") {
		t.Errorf("got exit code %d\n%s%s", code, stdout, stderr)
	}
}

// --producer reports what a dump lacks, one line each, and leaves the exit code as it is.
func TestVerifyCommand_Producer(t *testing.T) {
	dir := testrec.Place(t, "toyjit")
	dump := filepath.Base(testrec.Dumps(t, dir)[0])
	code, stdout, stderr := verifyCommand(t, dir, "--producer", "perf.data", dump)
	if code != exitOK || stderr != "" || !strings.Contains(stdout, "\n"+dump+": note: unwind tables: 0 of 13 functions, 0% of the code bytes") ||
		!strings.Contains(stdout, `"Stacks" in docs/producers.md. [producer/unwind]`+"\n"+dump+": jitdump, ") {
		t.Errorf("got exit code %d\n%s%s\nwant 0, no errors, the unwind tables on the last line but one", code, stdout, stderr)
	}
	if _, stdout, _ := verifyCommand(t, dir, "--producer", "--json", dump); !strings.Contains(stdout, `"rule":"producer/unwind","severity":"note","text":"unwind tables: 0 of 13`) {
		t.Errorf("got JSON without the unwind tables\n%s", stdout)
	}
	if code, stdout, _ := verifyCommand(t, dir, "--producer", "-q", dump); code != exitOK || stdout != "" {
		t.Errorf("-q: got exit code %d, %q; want 0, nothing", code, stdout)
	}
	if code, _, stderr := verifyCommand(t, dir, "--producer", "perf.data"); code != exitOK || !strings.Contains(stderr, "note: --producer is for jitdumps") {
		t.Errorf("without a dump: got exit code %d, %q; want 0, a note", code, stderr)
	}
	if _, stdout, _ := verifyCommand(t, dir, "--explain", "producer/unwind"); !strings.Contains(stdout, "producer/unwind (note)") {
		t.Errorf("--explain: got %q; want the rule", stdout)
	}
}

// A run that was interrupted says that, and nothing of a recording that it did not count.
func TestVerifyCommand_Interrupted(t *testing.T) {
	t.Chdir(testrec.Place(t, "php"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := os.Create("out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var stderr bytes.Buffer
	code := verifyFiles(ctx, checks.Verifier(), &verifyOptions{files: []string{"perf.data"}}, out, &stderr)
	if st, err := out.Stat(); err != nil || st.Size() > 0 || code != exitFailed || stderr.String() != "jitinject: interrupted; not everything was checked\n" {
		t.Errorf("exit code %d, error %v, %d bytes on standard output; want none\n%s", code, err, st.Size(), &stderr)
	}
	stderr.Reset()
	if fail(&stderr, context.Canceled); stderr.String() != "jitinject: interrupted\n" {
		t.Errorf("another command says %s", &stderr)
	}
}

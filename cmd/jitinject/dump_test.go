package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// dumped runs jitinject dump in the current directory with its output in a file.
func dumped(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	code, stderr = start(open(t, os.DevNull), out, append([]string{"dump"}, args...)...)
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, string(b), stderr
}

func TestDumpCommand_EveryForm(t *testing.T) {
	t.Chdir(testrec.Unpack(t, "lli-hot"))
	dump, err := os.ReadFile("jit-585.dump")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("cut.dump", dump[:len(dump)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"empty.map": "7f001000 10 other\n", "object": "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 57)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("text", []byte("\x1b[31mred\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		code   int
		stdout string // contains
		stderr string
	}{
		{"jit-585.dump", exitOK, "JIT_CODE_LOAD", ""},
		{"-d --name /^hot$/ jit-585.dump", exitOK, "cmp $0x2,%esi", ""},
		{"-x --records load jit-585.dump", exitOK, "  |....", ""},
		{"perf.data", exitFailed, "", "perf.data: it is a recording; perf report -D -i perf.data shows its records"},
		{"--json perf.data jit-585.dump", exitFailed, `"type":"JIT_CODE_LOAD"`, "it is a recording"},
		{"./object", exitFailed, "", "./object: it is an ELF file; readelf -aW ./object shows it, and llvm-dwarfdump ./object its lines"},
		{"cut.dump", exitIncomplete, "error ", "cut.dump: jitdump: JIT_CODE_LOAD at offset"},
		{"cut.dump jit-585.dump", exitIncomplete, "name=jit-585.dump", "cut.dump: "},
		{"text jit-585.dump", exitFailed, "JIT_CODE_LOAD ", "text: it is no jitdump, Mono log, XRay trace, capture of OpenJ9's metadata, core dump, V8 log, perf map or recording: it begins with 1b 5b"},
		{"nowhere", exitFailed, "", "nowhere: there is no such file"},
		{"", exitUsage, "", "dump needs the name of a jitdump, a Mono log, an XRay trace, a capture of OpenJ9's metadata, a core dump, a V8 log or a perf map"},
		{"--frob x", exitUsage, "", "there is no option --frob"},
		{"--stats x", exitUsage, "", "there is no option --stats any more; llvm-xray account -d"},
		{"--pid x y", exitUsage, "", "--pid x: it takes the number of a process"},
		{"--time 2-1 y", exitUsage, "", "--time 2-1: it ends before it begins"},
		{"--address zz y", exitUsage, "", "--address zz: it takes an address"},
		{"--name /(/ y", exitUsage, "", "--name /(/: that is no regular expression"},
		{"--records smaple y", exitUsage, "", "--records smaple: there are no such records"},
		{"-d --name coldd jit-585.dump", exitOK, "", `no record satisfies --name coldd`},
		{"--json --name coldd --name /c.ld/ --pid 7 jit-585.dump jit-585.dump", exitOK, "", "no record satisfies --pid 7 --name coldd --name /c.ld/"},
		{"--name coldd nowhere jit-585.dump", exitFailed, "", `no record satisfies --name coldd`},
		{"--name coldd cut.dump jit-585.dump", exitIncomplete, "file name=cut.dump", "cut.dump: jitdump"},
		{"--help", exitOK, "usage: jitinject dump", ""},
	} {
		code, stdout, stderr := dumped(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || c.stderr == "" && stderr != "" || !strings.Contains(stderr, c.stderr) {
			t.Errorf("dump %s: exit code %d, want %d\n%.300s\n%s", c.args, code, c.code, stdout, stderr)
		}
		if strings.Contains(stderr, "\x1b") {
			t.Errorf("dump %s: an escape sequence in %q", c.args, stderr)
		}
	}
	// Of many files, those with nothing to show are not named.
	for _, form := range []string{"--json", "--no-pager"} {
		_, one, _ := dumped(t, form, "--records", "load", "--name", "hot", "jit-585.dump")
		code, many, stderr := dumped(t, form, "--records", "load", "--name", "hot", "empty.map", "empty.map", "jit-585.dump", "empty.map")
		if code != exitOK || stderr != "" || many != one || !strings.Contains(one, "hot") {
			t.Errorf("%s: exit code %d, %s\n%s\nand not\n%s", form, code, stderr, many, one)
		}
	}
	_, stdout, _ := dumped(t, "--json", "jit-585.dump")
	for line := range strings.Lines(stdout) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// Standard input may be named twice: a file is shown twice, and a pipe has nothing more.
func TestDumpCommand_StdinTwice(t *testing.T) {
	made := t.TempDir()
	if err := (testrec.Made{Functions: 2}).Write(made); err != nil {
		t.Fatal(err)
	}
	path := testrec.Dumps(t, made)[0]
	_, once, _ := dumped(t, path)
	once = strings.Replace(once, path, "-", 1)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		w.Write(content)
		w.Close()
	}()
	for name, c := range map[string]struct {
		stdin *os.File
		code  int
		want  string
	}{
		"file": {open(t, path), exitOK, once + once},
		"pipe": {r, exitFailed, once},
	} {
		out, err := os.Create(filepath.Join(made, name))
		if err != nil {
			t.Fatal(err)
		}
		code, stderr := start(c.stdin, out, "dump", "-", "-")
		out.Close()
		if got, err := os.ReadFile(out.Name()); err != nil || code != c.code || string(got) != c.want {
			t.Errorf("%s: exit code %d, %v, %s\n%s\nwant %d and\n%s", name, code, err, stderr, got, c.code, c.want)
		}
	}
}

// Who reads may stop reading: the program ends, silently and at once.
func TestDumpCommand_ClosedPipe(t *testing.T) {
	dir := t.TempDir()
	if err := (testrec.Made{Functions: 20000}).Write(dir); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "dump", testrec.Dumps(t, dir)[0])
	cmd.Env = append(os.Environ(), beProgram+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 100)
	if _, err := io.ReadFull(out, first); err != nil || !bytes.HasPrefix(first, []byte("file name=")) {
		t.Errorf(`got %q, %v; want no error, first that begins with "file name="`, first, err)
	}
	out.Close()
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("got %v, %s; want no error, nothing in stderr", err, stderr.String())
	}
}

// On a terminal the output goes through a pager; errors come behind it.
func TestDumpCommand_Pager(t *testing.T) {
	dir := testrec.Unpack(t, "lli-hot")
	large := t.TempDir()
	if err := (testrec.Made{Functions: 20000}).Write(large); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env    string // separated by ;
		args   []string
		stdout string // how it begins
		stderr string
	}{
		"ours first":    {"JITINJECT_PAGER=sed s/^/paged:/;PAGER=false", []string{"jit-585.dump"}, "paged:file name=", ""},
		"PAGER":         {"PAGER=sed s/^/paged:/", []string{"jit-585.dump"}, "paged:file name=", ""},
		"less":          {"LESS=", []string{"--records", "header", "jit-585.dump"}, "", ""},
		"--no-pager":    {"PAGER=sed s/^/paged:/", []string{"--no-pager", "jit-585.dump"}, "file name=", ""},
		"JSON":          {"PAGER=sed s/^/paged:/", []string{"--json", "jit-585.dump"}, `{"type":"file"`, ""},
		"none":          {"PAGER=", []string{"jit-585.dump"}, "file name=", ""},
		"cat":           {"PAGER=cat", []string{"jit-585.dump"}, "file name=", ""},
		"missing":       {"PAGER=/no/such/pager", []string{"jit-585.dump"}, "", `the pager "/no/such/pager" cannot be run; name another in JITINJECT_PAGER`},
		"left at once":  {"PAGER=head -1", []string{testrec.Dumps(t, large)[0]}, "file name=", ""},
		"takes nothing": {"PAGER=true", []string{testrec.Dumps(t, large)[0]}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "less" {
				testrec.Tool(t, "less")
			}
			tty := openTerminal(t)
			var stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), program, append([]string{"dump"}, c.args...)...)
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, tty.slave, &stderr
			cmd.Env = append(os.Environ(), beProgram+"=1", "TERM=xterm")
			if c.env == "LESS=" {
				c.env = "PAGER=less -FRX"
			}
			cmd.Env = append(cmd.Env, strings.Split(c.env, ";")...)
			began := time.Now()
			err := cmd.Run()
			out := tty.close()
			if err != nil || !strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
				t.Errorf(`got %v, %s; want no error, stderr with %q, c.stderr other than "" or nothing in stderr`, err, stderr.String(), c.stderr)
			}
			if !strings.HasPrefix(out, c.stdout) || name == "less" && !strings.Contains(out, "elf_mach=62(x86-64)") {
				t.Errorf(`got %.200q; want one that begins with %q, name other than "less" or one with "elf_mach=62(x86-64)"`, out, c.stdout)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

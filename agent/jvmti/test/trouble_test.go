package jvmti_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What may go wrong, and what must not go wrong with it.

func TestAgent_EveryOption(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	t.Run("dir", func(t *testing.T) {
		dir := t.TempDir()
		r := java(t, "-agentpath:"+so+"=names=short,dir="+dir, "-cp", cp, "scopes.Scopes", "300")
		r.good(t)
		if len(r.dumps) != 0 {
			t.Errorf("dumps in the current directory: %v", r.dumps)
		}
		r.dumps = dumps(t, dir)
		if len(named(r.one(t), `^scopes\.Scopes\.step$`)) == 0 {
			t.Error("no function scopes.Scopes.step")
		}
	})
	t.Run("JITDUMPDIR", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("JITDUMPDIR", dir)
		r := java(t, "-agentpath:"+so, "-cp", cp, "scopes.Scopes", "300")
		r.good(t)
		r.dumps = dumps(t, dir)
		r.one(t)
	})
	// So OpenJ9's jcmd hands over what HotSpot's takes without quotes.
	t.Run("quotes", func(t *testing.T) {
		dir := t.TempDir()
		r := java(t, "-agentpath:"+so+`="names=short,dir=`+dir+`"`, "-cp", cp, "scopes.Scopes", "300")
		r.good(t)
		r.dumps = dumps(t, dir)
		if len(named(r.one(t), `^scopes\.Scopes\.step$`)) == 0 {
			t.Error("no function scopes.Scopes.step")
		}
	})
	for _, bad := range []string{"dri=/tmp", "names=long", "dir=", "dir", `"dir=/tmp`, `names=short"`, `"`, `"dri=/tmp"`} {
		t.Run(bad, func(t *testing.T) {
			r := java(t, "-agentpath:"+so+"="+bad, "-cp", cp, "scopes.Scopes", "300")
			if r.err == nil || !strings.Contains(r.stderr, "jitinject-jvmti: ") || len(r.dumps) != 0 {
				t.Errorf("got %v, %v; want r.err not nil, r.stderr with \"jitinject-jvmti: \", no dumps\n%s", r.err, r.dumps, r.stderr)
			}
		})
	}
}

// TestAgent_WithoutCompilers runs without compilers.
func TestAgent_WithoutCompilers(t *testing.T) {
	r := java(t, "-agentpath:"+agent(t), "-Xint", "-cp", classes(t, "Scopes.java"), "scopes.Scopes", "100")
	r.good(t)
	all := r.one(t)
	if len(named(all, `^Interpreter$`)) == 0 || len(named(all, `^scopes`)) != 0 {
		t.Errorf("%d functions", len(all))
	}
}

// TestAgent_DumpCannotBeMade has no directory, no permission, or no executable mappings: the
// program runs, and one line says what is wrong.
func TestAgent_DumpCannotBeMade(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	check := func(t *testing.T, cmd *exec.Cmd, dir string) {
		t.Helper()
		r := runIn(t, t.TempDir(), cmd)
		r.good(t)
		if strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "no jitdump is written") || !strings.Contains(r.stderr, dir) {
			t.Errorf("stderr: %s", r.stderr)
		}
		if left := append(dumps(t, dir), r.dumps...); len(left) != 0 {
			t.Errorf("there are %v", left)
		}
	}
	command := func(dir string) *exec.Cmd {
		return exec.Command(testrec.Tool(t, "java"), "-agentpath:"+so+"=dir="+dir, "-cp", cp, "scopes.Scopes", "100")
	}
	t.Run("missing", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "missing")
		check(t, command(dir), dir)
	})
	t.Run("permission", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		cmd := command(dir)
		if os.Getuid() == 0 {
			// The classes and the library are not for others to read here.
			shared := public(t)
			for _, path := range []string{so, filepath.Join(cp, "scopes", "Scopes.class")} {
				to := filepath.Join(shared, filepath.Base(path))
				if filepath.Ext(path) == ".class" {
					to = filepath.Join(shared, "scopes", filepath.Base(path))
				}
				copyFile(t, path, to)
			}
			dir = filepath.Join(shared, "closed")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd = exec.Command(testrec.Tool(t, "java"), "-agentpath:"+filepath.Join(shared, filepath.Base(so))+"=dir="+dir,
				"-cp", shared, "scopes.Scopes", "100")
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			r := runIn(t, shared, cmd)
			r.good(t)
			if strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "permission denied; no jitdump is written") {
				t.Errorf("stderr: %s", r.stderr)
			}
			return
		}
		check(t, cmd, dir)
	})
	t.Run("noexec", func(t *testing.T) {
		dir := tmpfs(t, "noexec")
		check(t, command(dir), dir)
	})
}

// public makes a directory that every user can read.
func public(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jvmti")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tmpfs mounts a file system for the test.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "none", dir).CombinedOutput(); err != nil {
		testrec.Skip(t, "mounting is not allowed here: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir
}

// TestAgent_DiskFull lets the dump's space run out: what was written until then is whole.
func TestAgent_DiskFull(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	check := func(t *testing.T, r run, limit int64) {
		t.Helper()
		r.good(t)
		if strings.Count(r.stderr, "jitinject-jvmti: ") != 1 || !strings.Contains(r.stderr, "the jitdump ends here") {
			t.Errorf("stderr: %s", r.stderr)
		}
		if len(r.one(t)) < 10 {
			t.Error("hardly a function was written")
		}
		info, err := os.Stat(r.dumps[0])
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > limit {
			t.Errorf("%d bytes", info.Size())
		}
	}
	t.Run("limit", func(t *testing.T) {
		script := fmt.Sprintf("ulimit -f 200; exec java -XX:-UsePerfData -agentpath:%s -cp %s scopes.Scopes 500", so, cp)
		// The unit is 512 bytes for dash, 1024 for bash.
		check(t, runIn(t, t.TempDir(), exec.Command("sh", "-c", script)), 200<<10)
	})
	t.Run("tmpfs", func(t *testing.T) {
		dir := tmpfs(t, "size=204800")
		r := java(t, "-agentpath:"+so+"=dir="+dir, "-cp", cp, "scopes.Scopes", "500")
		r.dumps = dumps(t, dir)
		check(t, r, 200<<10)
	})
}

// TestAgent_ClassesUnloaded unloads classes while several compilers work on their methods.
func TestAgent_ClassesUnloaded(t *testing.T) {
	r := java(t, "-agentpath:"+agent(t), "-XX:+UseParallelGC", "-XX:CICompilerCount=6", "-Xlog:class+unload:file=unload.log",
		"-cp", classes(t, "Unload.java"), "Unload", "6000")
	r.good(t)
	all := r.one(t)
	work := named(all, `^Unload\$Work\.applyAsInt\(I\)I$`)
	log, err := os.ReadFile(filepath.Join(filepath.Dir(r.dumps[0]), "unload.log"))
	if err != nil {
		t.Fatal(err)
	}
	unloaded := bytes.Count(log, []byte("unloading class Unload$Work"))
	t.Logf("%d functions, %d of classes that come and go, %d classes unloaded", len(all), len(work), unloaded)
	if unloaded < 10 || len(work) < 10 {
		t.Errorf("%d classes were unloaded, %d functions", unloaded, len(work))
	}
}

// TestAgent_ExitWhileCompiling ends the program in the middle of compilations.
func TestAgent_ExitWhileCompiling(t *testing.T) {
	so, cp := agent(t), classes(t, "Exit.java")
	for i := range 5 {
		r := java(t, "-agentpath:"+so, "-cp", cp, "Exit", fmt.Sprint(200*i+100))
		r.good(t)
		if r.stderr != "" || len(r.one(t)) < 100 {
			t.Errorf("stderr: %s", r.stderr)
		}
	}
}

// TestAgent_FileInPlaceOfDump finds something at the dump's place: it must not be written to,
// nor followed.
func TestAgent_FileInPlaceOfDump(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("keep me"), 0o644); err != nil {
		t.Fatal(err)
	}
	// exec keeps the shell's pid.
	script := fmt.Sprintf("ln -s victim jit-$$.dump; exec java -agentpath:%s -cp %s scopes.Scopes 100", so, cp)
	r := runIn(t, dir, exec.Command("sh", "-c", script))
	r.good(t)
	r.one(t)
	if b, err := os.ReadFile(victim); err != nil || string(b) != "keep me" {
		t.Errorf(`got %q, %v; want no error, b = "keep me"`, b, err)
	}
}

// TestAgent_AttachedThreeTimes loads the agent into a program that runs, three times: the second
// and third, from a copy, must not make another dump.
func TestAgent_AttachedThreeTimes(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	jcmd := testrec.Tool(t, "jcmd")
	dir := t.TempDir()
	again := filepath.Join(dir, "copy.so")
	copyFile(t, so, again)
	cmd := exec.Command(testrec.Tool(t, "java"), "-cp", cp, "scopes.Scopes", "1500", "wait")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, stdout := testrec.Start(t, cmd)
	// It says so when it has run long enough to be compiled.
	if _, err := io.ReadFull(stdout, make([]byte, len("done true"))); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for _, path := range []string{so, so, again} {
		out, err := exec.Command(jcmd, fmt.Sprint(cmd.Process.Pid), "JVMTI.agent_load", path, `"dir=`+to+`"`).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("return code: 0")) {
			t.Fatalf("jcmd: %v\n%s", err, out)
		}
	}
	stdin.Close()
	io.Copy(io.Discard, stdout)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(time.Minute):
		err = errors.New("the program does not end")
	}
	if err != nil {
		t.Fatalf("unexpected error: %v\n%s", err, stderr.String())
	}
	if got := stderr.String(); strings.Count(got, "jitinject-jvmti: ") != 2 ||
		!strings.Contains(got, "loaded already") || !strings.Contains(got, "no second jitdump") {
		t.Errorf("stderr: %s", got)
	}
	all := run{dumps: append(dumps(t, to), dumps(t, dir)...)}.one(t)
	for _, expr := range []string{`^Interpreter$`, `^scopes\.Scopes\.step\(II\)I$`, `^java\.lang\.String\.hashCode\(\)I$`} {
		if len(named(all, expr)) == 0 {
			t.Errorf("no function %s among %d", expr, len(all))
		}
	}
}

// TestAgent_DumpReadByPerfInject records a program and lets perf's own inject read the dump.
func TestAgent_DumpReadByPerfInject(t *testing.T) {
	testrec.CanRecord(t)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"record", "-q", "-e", "cpu-clock", "-k", "mono", "-o", "perf.data", "java", "-agentpath:" + agent(t), "-cp", classes(t, "Scopes.java"), "scopes.Scopes", "1000"},
		{"inject", "--jit", "-i", "perf.data", "-o", "perf.jit.data"},
	} {
		if out, err := testrec.Command(t, dir, testrec.Tool(t, "perf"), args...).CombinedOutput(); err != nil {
			t.Fatalf("perf %s: %v\n%s", args[0], err, out)
		}
	}
	out, err := testrec.Command(t, dir, "perf", "report", "-i", "perf.jit.data", "--stdio", "--sort", "sym").Output()
	if err != nil || !bytes.Contains(out, []byte("scopes.Scopes.main([Ljava/lang/String;)V")) {
		t.Errorf("got %v; want no error, one with \"scopes.Scopes.main([Ljava/lang/String;)V\"\n%s", err, out)
	}
}

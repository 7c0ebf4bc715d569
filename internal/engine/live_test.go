package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Real programs, recorded here and now where perf may record: what today's
// runtimes write, beside what those of the recordings wrote.

// record runs a command under perf record in dir.
func record(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := testrec.Command(t, dir, testrec.Tool(t, "perf"), append([]string{"record", "-q", "-e", "cpu-clock", "-F", "999", "-k", "mono", "-g", "-o", "perf.data"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("unexpected error: %v\n%s", err, out)
	}
}

// injectLive injects with perf and with us, compares, and returns our output.
func injectLive(t *testing.T, dir string) string {
	t.Helper()
	ours := filepath.Join(dir, "ours.data")
	sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: ours, Objects: filepath.Join(dir, "objects")})
	if err != nil || !sum.Complete() || sum.Mappings == 0 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Mappings other than 0", asJSON(sum), err)
	}
	perf := testrec.Tool(t, "perf")
	testrec.Run(t, dir, perf, "--buildid-dir", "/dev/null", "inject", "--jit", "-i", "perf.data", "-o", "theirs.data")
	script := func(file string) string {
		return testrec.Run(t, dir, perf, "script", "--no-inline", "-F", "tid,time,ip,sym,symoff", "-i", file)
	}
	if theirs, mine := script("theirs.data"), script("ours.data"); theirs != mine {
		a, b := strings.Split(theirs, "\n"), strings.Split(mine, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("perf inject: %s\njitinject:   %s", a[i], b[i])
				break
			}
		}
	}
	return ours
}

func program(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFresh_Node(t *testing.T) {
	testrec.Fresh(t)
	node := testrec.Tool(t, "node", "nodejs")
	dir := t.TempDir()
	hot, err := os.ReadFile(filepath.Join(testrec.Unpack(t, "node-hot"), "hot.js"))
	if err != nil {
		t.Fatal(err)
	}
	program(t, dir, "hot.js", string(hot))
	record(t, dir, nil, node, "--perf-prof", "hot.js")
	ours := injectLive(t, dir)
	out := testrec.Run(t, dir, testrec.Tool(t, "perf"), "script", "-G", "-F", "ip,sym,srcline", "-i", ours)
	if got := hottest(out, "hot "+filepath.Join(dir, "hot.js")); got != "hot.js:13" {
		t.Errorf("the hottest line is %q, it should be hot.js:13", got)
	}
}

func TestFresh_LLVM(t *testing.T) {
	testrec.Fresh(t)
	clang, lli := testrec.Tool(t, "clang-14", "clang"), testrec.Tool(t, "lli-14", "lli")
	dir := t.TempDir()
	hot, err := os.ReadFile(filepath.Join(testrec.Unpack(t, "lli-hot"), "hot.c"))
	if err != nil {
		t.Fatal(err)
	}
	program(t, dir, "hot.c", string(hot))
	testrec.Run(t, dir, clang, "-g", "-O1", "-fno-inline", "-emit-llvm", "-c", "hot.c", "-o", "hot.bc")
	record(t, dir, []string{"JITDUMPDIR=" + dir}, lli, "--jit-kind=mcjit", "hot.bc")
	ours := injectLive(t, dir)
	out := testrec.Run(t, dir, testrec.Tool(t, "perf"), "script", "-G", "-F", "ip,sym,srcline", "-i", ours)
	if got := hottest(out, "hot"); got != "hot.c:5" {
		t.Errorf("the hottest line is %q, it should be hot.c:5", got)
	}
}

func TestFresh_Erlang(t *testing.T) {
	testrec.Fresh(t)
	erl, erlc := testrec.Tool(t, "erl"), testrec.Tool(t, "erlc")
	dir := t.TempDir()
	prog, err := os.ReadFile(filepath.Join(testrec.Unpack(t, "erlang"), "prog.erl"))
	if err != nil {
		t.Fatal(err)
	}
	program(t, dir, "prog.erl", string(prog))
	testrec.Run(t, dir, erlc, "prog.erl")
	record(t, dir, nil, erl, "+JPperf", "dump", "+S", "1:1", "-noshell", "-s", "prog", "main")
	checkNames(t, dir, injectLive(t, dir), "prog:")
}

func TestFresh_PHP(t *testing.T) {
	testrec.Fresh(t)
	php := testrec.Tool(t, "php")
	dir := t.TempDir()
	prog, err := os.ReadFile(filepath.Join(testrec.Unpack(t, "php"), "prog.php"))
	if err != nil {
		t.Fatal(err)
	}
	program(t, dir, "prog.php", string(prog))
	record(t, dir, nil, php, "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=64M",
		"-d", "opcache.jit=tracing", "-d", "opcache.jit_debug=0x20", "prog.php")
	checkNames(t, dir, injectLive(t, dir), "TRACE-")
}

// checkNames wants a good part of the samples to be in functions of that name,
// and removes the dump, which these runtimes leave in /tmp.
func checkNames(t *testing.T, dir, ours, prefix string) {
	t.Helper()
	perf := testrec.Tool(t, "perf")
	out := testrec.Run(t, dir, perf, "script", "-G", "-F", "ip,sym", "-i", ours)
	samples, named := strings.Count(out, "\n"), strings.Count(out, " "+prefix)
	if samples < 50 || named < samples/4 {
		t.Errorf("%d of %d samples are in %s*", named, samples, prefix)
	}
	for _, m := range readMappings(t, filepath.Join(dir, "perf.data")).all {
		if name := string(m.Filename); strings.HasPrefix(name, "/tmp/jit-") && strings.HasSuffix(name, ".dump") {
			os.Remove(name)
			made, _ := filepath.Glob("/tmp/jitted-" + strings.TrimSuffix(strings.TrimPrefix(name, "/tmp/jit-"), ".dump") + "-*.so")
			for _, so := range made { // by perf inject
				os.Remove(so)
			}
		}
	}
}

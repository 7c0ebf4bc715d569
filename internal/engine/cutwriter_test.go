package engine_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The problem of a dump that ends inside a record says whether its process still runs, if that is known.
func TestDump_CutByProcess(t *testing.T) {
	for _, c := range []struct {
		name, advice string
		change       func(w *world)
	}{
		{"of an unknown process", "the rest was not written, or not copied; if there is a longer copy, name its directory with `Options.DumpDirs`", func(*world) {}},
		{"ended", "process 100 ended before it wrote the rest, or the disk was full; to keep the rest next time: jitinject record -- COMMAND", func(w *world) { w.Exit(100, 100, 9000) }},
	} {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		w.Mmap2(100, 1001, 0x10000000, 0x10000, 0, "//anon")
		w.Sample(100, 3000, 0x10000008)
		w.Sample(100, 3001, 0x10000808) // in a missing function
		w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000000, "alpha", code(64, 1)))
		put(t, w.path("jit-100.dump"), append(read(t, w.path("jit-100.dump")), 0, 0, 0, 0, 100, 0, 0, 0, 1))
		c.change(w)
		sum, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		if len(sum.Problems) != 1 || !strings.HasPrefix(sum.Problems[0].Advice, c.advice) {
			t.Errorf("%s: got problems %+v; want advice %q", c.name, sum.Problems, c.advice)
		}
	}
}

// V8 writes a dump in blocks. While node runs, the last function is in its memory; when it is killed, that
// is lost.
func TestDump_CutByNode(t *testing.T) {
	testrec.CanRecord(t)
	perf, node := testrec.Tool(t, "perf"), testrec.Tool(t, "node", "nodejs")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "app.js"), []byte(`'use strict';
const last = new Function('n', 'let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) % 1000003; return s');
let total = 0;
for (let i = 0; i < 1000; i++) total += last(10000);
console.log('ready');
for (;;) total += last(10000);
`))
	cmd := exec.Command(node, "--perf-prof", "app.js")
	cmd.Dir = dir
	_, out := testrec.Start(t, cmd)
	pid := cmd.Process.Pid
	kill := func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	testrec.Run(t, dir, perf, "record", "-q", "-e", "cpu-clock", "-F", "199", "-k", "mono", "-g", "-o", "perf.data", "-p", fmt.Sprint(pid), "--", "sleep", "0.5")
	for _, c := range []struct {
		want   string
		before func()
	}{
		{fmt.Sprintf("process %d still runs, and has not written the rest; let it end, and inject again, or read the rest from its memory: `again with Options.Live = %d`", pid, pid), func() {}},
		{fmt.Sprintf("process %d ended before it wrote the rest, or the disk was full; to keep the rest next time: jitinject record -- COMMAND", pid), kill},
	} {
		c.before()
		sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")})
		if err != nil {
			t.Fatal(err)
		}
		if len(sum.Dumps) == 1 && sum.Dumps[0].Cut < 0 {
			testrec.Skip(t, "node has written whole records: %s", asJSON(sum))
		}
		if len(sum.Dumps) != 1 || sum.Dumps[0].CutAdvice(report.Setting.String) != c.want {
			t.Errorf("got %s, %q; want one dump, advice %q", asJSON(sum), sum.Dumps[0].CutAdvice(report.Setting.String), c.want)
		}
	}
	// The same recording, made on another machine.
	name := filepath.Join(dir, "perf.data")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	b := strings.ReplaceAll(string(read(t, name)), host+"\x00", strings.Repeat("x", len(host))+"\x00")
	put(t, name, []byte(b))
	sum, err := engine.Run(t.Context(), config.Options{Input: name, Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")})
	if err != nil || len(sum.Dumps) != 1 || strings.Contains(sum.Dumps[0].CutAdvice(report.Setting.String), "process") {
		t.Errorf("of another machine: got %s, %v; want one dump, and no word of its process", asJSON(sum), err)
	}
}

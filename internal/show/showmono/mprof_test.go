package showmono_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A monoItem is an event as JSON has it.
type monoItem struct {
	Type, Name, Time                      string
	Offset, Length                        int64
	Thread, Method, VTable, Class, Domain string
	Image, Assembly, Context              string
	CodeAddr                              string `json:"code_addr"`
	CodeSize                              int64  `json:"code_size"`
	Load                                  int
	LoadName                              string `json:"load_name"`
	HelperName                            string `json:"helper_name"`
}

// pointer is an address as mprof-report prints it.
func pointer(s string) string {
	if s == "0x0" {
		return "(nil)"
	}
	return s
}

func named(name, prefix, pointer string) string {
	if name == "" {
		return prefix + " " + pointer
	}
	return name
}

// mprofLines are such lines of mprof-report --debug for what is shown of a log as JSON.
func mprofLines(t *testing.T, shown string) (lines []string) {
	t.Helper()
	for line := range strings.Lines(shown) {
		var e monoItem
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ns, _ := strconv.ParseUint(strings.ReplaceAll(e.Time, ".", ""), 10, 64)
		add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
		method := named(e.Name, "unknown method", pointer(e.Method))
		switch e.Type {
		case "buffer":
			add("buf: thread:%s, len: %d, time: %d, file offset: %d", strings.TrimPrefix(e.Thread, "0x"), e.Length, ns, e.Offset)
		case "method_jit":
			add("jitted method %s (%s), size: %d, code: %s", pointer(e.Method), e.Name, e.CodeSize, pointer(e.CodeAddr))
		case "jit_helper":
			name := e.HelperName
			if e.Name != "" {
				name = e.Name
			}
			add("jit helper %s, size: %d, code: %s", name, e.CodeSize, pointer(e.CodeAddr))
		case "method_enter":
			add("enter method %s", method)
		case "method_leave":
			add("leave method %s", method)
		case "method_exc_leave":
			add("exleave method %s", method)
		case "class":
			add("%s class %s (%s in %s) at %d", e.LoadName, pointer(e.Class), e.Name, pointer(e.Image), ns)
		case "image":
			add("%s image %s (%s) at %d", e.LoadName, pointer(e.Image), e.Name, ns)
		case "assembly":
			add("%s assembly %s (%s) at %d", e.LoadName, pointer(e.Assembly), e.Name, ns)
		case "domain", "thread":
			what := e.Domain
			if e.Type == "thread" {
				what = e.Thread
			}
			if e.Load == 0 {
				add("%s %s named at %d: %s", e.Type, pointer(what), ns, e.Name)
			} else {
				add("%s thread %s at %d", e.LoadName, pointer(what), ns) // of domains, too
			}
		case "context":
			add("%s context %s (%s) at %d", e.LoadName, pointer(e.Context), pointer(e.Domain), ns)
		case "vtable":
			add("vtable %s for class %s in domain %s at %d", pointer(e.VTable), pointer(e.Class), pointer(e.Domain), ns)
		}
	}
	return lines
}

// debugLines are those of mprof-report --debug about buffers, metadata, methods and helpers: of other
// events, no fields are shown.
func debugLines(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if described.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

var described = regexp.MustCompile(`^(buf:|loaded |unloaded |domain |thread |vtable |jitted |enter |leave |exleave |jit helper )`)

func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if showtest.LineAt(got, i) != showtest.LineAt(want, i) {
			t.Fatalf("line %d is\n%s\nmprof-report has\n%s", i+1, showtest.LineAt(got, i), showtest.LineAt(want, i))
		}
	}
}

// Every such event of a log is what mprof-report of Mono 6.8 reads, plain and packed.
func TestMprofReport(t *testing.T) {
	logs, err := filepath.Glob("../testdata/mono/*.mlpd.gz")
	if err != nil || len(logs) < 3 {
		t.Fatal(logs, err)
	}
	for _, packed := range logs {
		t.Run(filepath.Base(packed), func(t *testing.T) {
			want := debugLines(string(testrec.Gunzip(t, strings.Replace(packed, ".mlpd", ".debug.txt", 1))))
			plain := filepath.Join(t.TempDir(), "plain.mlpd")
			showtest.Put(t, plain, testrec.Gunzip(t, packed))
			for _, path := range []string{packed, plain} {
				sameLines(t, mprofLines(t, showtest.Whole(t, path, show.Options{JSON: true})), want)
			}
		})
	}
}

// The same of logs that this machine's Mono writes, with this machine's mprof-report.
func TestMprofReportFresh(t *testing.T) {
	if testing.Short() {
		testrec.Skip(t, "-short starts no mono")
	}
	for _, tool := range []string{"mono", "mcs", "mprof-report"} {
		if _, err := exec.LookPath(tool); err != nil {
			testrec.Missing(t, "%s", tool)
		}
	}
	source, err := filepath.Abs("../testdata/mono/all.cs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(name string, args ...string) []byte {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		return out
	}
	run("mcs", "-out:all.exe", source)
	for _, mode := range []string{"nodefaults,jit", "nodefaults,jit,zip", "legacy", "calls,exception,monitor,jit", "nodefaults,heapshot=1gc,alloc,jit,sample-real=500"} {
		run("mono", "--profile=log:"+mode+",output=all.mlpd", "all.exe")
		path := filepath.Join(dir, "all.mlpd")
		sameLines(t, mprofLines(t, showtest.Whole(t, path, show.Options{JSON: true})), debugLines(string(run("mprof-report", "--debug", "all.mlpd"))))
	}
}

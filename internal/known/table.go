package known

import "strings"

// values are options of node that take the next word as their value, as node 20 and 26 list them
// (--help).
const values = "-C -e -p -pe -r --print --allow-fs-read --allow-fs-write --bench-isolation --bench-name-pattern --bench-reporter --bench-reporter-destination --bench-samples --bench-warmup --build-sea --build-snapshot-config --conditions --cpu-prof-dir --cpu-prof-interval --cpu-prof-name --diagnostic-dir --disable-proto --disable-warning --dns-result-order --env-file --env-file-if-exists --eval --experimental-config-file --experimental-default-type --experimental-loader --experimental-package-map --experimental-policy --experimental-sea-config --experimental-test-tag-filter --heap-prof-dir --heap-prof-interval --heap-prof-name --heapsnapshot-near-heap-limit --heapsnapshot-signal --icu-data-dir --import --input-type --inspect-port --inspect-publish-uid --loader --localstorage-file --max-http-header-size --max-old-space-size-percentage --network-family-autoselection-attempt-timeout --openssl-config --policy-integrity --redirect-warnings --report-dir --report-directory --report-filename --report-signal --require --run --secure-heap --secure-heap-min --snapshot-blob --test-concurrency --test-coverage-branches --test-coverage-exclude --test-coverage-functions --test-coverage-include --test-coverage-lines --test-global-setup --test-name-pattern --test-random-seed --test-reporter --test-reporter-destination --test-rerun-failures --test-shard --test-skip-pattern --test-timeout --title --tls-cipher-list --tls-keylog --trace-event-categories --trace-event-file-pattern --trace-require-module --unhandled-rejections --use-largepages --v8-pool-size --vfs-load --vfs-mount --watch-kill-signal --watch-path"

// llvmLive reads code that a process has registered for debuggers. The process must run.
const llvmLive = "perf record -k mono -g -p PID -- sleep 10; jitinject --live PID"

// all are the runtimes in common use. Names are compared up to a digit, a dash or a dot, as in
// python3.13. Options with values are from the manuals and sources of the runtimes.
var all = []Runtime{
	{names: []string{"node", "nodejs"}, recordable: byCommand, flags: []string{"--perf-prof"}, options: "--perf-prof", program: "PROGRAM.js", env: []string{"NODE_OPTIONS"},
		commands: []command{{values: values}}},
	{names: []string{"electron"}, flags: []string{"--perf-prof"}, options: "--no-sandbox --js-flags=--perf-prof", program: "APP", note: "without the sandbox, which keeps it from writing",
		commands: []command{{anywhere: true}}},
	{names: []string{"deno"}, recordable: byCommand, flags: []string{"--perf-prof"}, options: "--v8-flags=--perf-prof", program: "PROGRAM.ts", env: []string{"DENO_V8_FLAGS"},
		commands: []command{{subcommands: "run serve test bench eval repl", subcommand: "run", values: "-c -L --cert --conditions --config --ext --host --import-map --location --log-level --port --preload --seed"}}},
	{names: []string{"chrome", "chromium", "d8"}, recordable: byOptions, files: []string{"/chrome", "/chromium"}, flags: []string{"--perf-prof"}, options: "--no-sandbox --js-flags=--perf-prof", note: "without the sandbox, which keeps it from writing",
		commands: []command{{names: []string{"chromium", "chrome", "google-chrome", "google-chrome-stable", "google-chrome-beta", "headless_shell"}, anywhere: true}, {names: []string{"d8"}, options: "--perf-prof", anywhere: true}}},
	{names: []string{"java"}, recordable: byCommand, files: []string{"/libjvm.so"}, flags: []string{"jitinject-jvmti", "perf-jvmti"}, friends: []string{"-XX:+PreserveFramePointer"}, options: "-agentpath:" + agent + " -XX:+PreserveFramePointer", program: "PROGRAM", env: []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"}, note: "in a running JVM: jcmd PID Compiler.perfmap",
		commands: []command{{last: "-jar -m --module", values: "-cp -p -classpath --add-exports --add-modules --add-opens --add-reads --class-path --describe-module --enable-native-access --limit-modules --module-path --patch-module --source --upgrade-module-path"}}},
	{names: []string{"beam"}, recordable: byCommand, files: []string{"/beam.smp"}, flags: []string{"+JPperf true", "+JPperf dump", "+JPperf no_fp"}, options: "+JPperf true", program: "PROGRAM", env: []string{"ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ELIXIR_ERL_OPTIONS"}, note: "for Elixir, ELIXIR_ERL_OPTIONS='+JPperf true'", ownStack: true,
		commands: []command{
			{names: []string{"erl"}, values: "+JPperf", anywhere: true, end: "-extra"},
			{names: []string{"elixir", "iex"}, options: "--erl '+JPperf true'", carriers: "--erl", values: "-e -r -pr -pa -pz --boot --cookie --dbg --dot-iex --erl-config --eval --logger-otp-reports --logger-sasl-reports --name --remsh --sname --vm-args", last: "-S"},
		}},
	{names: []string{"php", "php-fpm", "php-cgi"}, recordable: byCommand, deafening: "n", files: []string{"/opcache.so"}, flags: []string{"opcache.jit_debug"}, friends: []string{"opcache."}, options: "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=32 -d opcache.file_update_protection=0", program: "PROGRAM.php", env: []string{"php.ini"},
		commands: []command{{clusters: true, carriers: "-d --define", values: "-B -E -F -R -S -T -b -c -f -g -r -t -y -z --bindpath --docroot --file --fpm-config --php-ini --pid --process-begin --process-code --process-end --process-file --run --server --zend-extension"}}},
	{names: []string{"pypy"}, files: []string{"/libpypy"}, note: "PyPy can write neither a dump nor a map, as far as is known: perf shows addresses in its code"},
	{names: []string{"python"}, recordable: byCommand, deafening: "EI", files: []string{"/libpython3"}, flags: []string{"perf_jit", "PYTHON_PERF_JIT_SUPPORT"}, options: "-X perf_jit", program: "PROGRAM.py", stacks: "--call-graph dwarf", env: []string{"PYTHON_PERF_JIT_SUPPORT"}, note: "from Python 3.13 on",
		commands: []command{{names: []string{"python3", "python"}, clusters: true, carriers: "-X", values: "-W --check-hash-based-pycs", last: "-c -m"}}},
	{names: []string{"julia"}, files: []string{"/libjulia"}, flags: []string{"ENABLE_JITPROFILING"}, set: "ENABLE_JITPROFILING=1", program: "PROGRAM.jl", env: []string{"ENABLE_JITPROFILING"}, note: "a julia that was built with USE_PERF_JITEVENTS=1",
		commands: []command{{clusters: true, values: "-C -E -J -L -O -e -p -t --check-bounds --cpu-target --eval --load --print --procs --project --sysimage --threads"}}},
	{names: []string{"lli"}, recordable: byOptions, flags: []string{"--jit-kind=mcjit", "-jit-kind=mcjit"}, options: "--jit-kind=mcjit", program: "PROGRAM.bc", note: "an LLVM that was built with LLVM_USE_PERF; or jitinject --live PID while it runs",
		commands: []command{{values: "-entry-function -extra-archive -extra-module -extra-object -load -mattr -mcpu -march --entry-function --extra-archive --extra-module --extra-object --load --mattr --mcpu --march"}}},
	{names: []string{"wasmtime"}, flags: []string{"--profile=jitdump", "--profile jitdump", "--jitdump"}, options: "--profile=jitdump", program: "PROGRAM.wasm",
		commands: []command{{subcommands: "run serve", values: "-C -D -O -S -W --addr --argv0 --config --dir --env --invoke --preload --profile"}}},
	{names: []string{"wasmer"}, flags: []string{"--profiler=perfmap", "--profiler perfmap"}, options: "--profiler=perfmap", program: "PROGRAM.wasm", note: mapOnly,
		commands: []command{{subcommands: "run", subcommand: "run", values: "-e --dir --entrypoint --env --invoke --mapdir --profiler --volume"}}},
	{names: []string{"dotnet"}, recordable: byCommand, files: []string{"/libcoreclr.so", "/memfd:doublemapper"}, flags: []string{"DOTNET_PerfMapEnabled", complusFlag}, set: "DOTNET_PerfMapEnabled=2 DOTNET_PerfMapStubGranularity=2", program: "PROGRAM.dll", env: []string{"DOTNET_PerfMapEnabled", complusFlag}, note: "before .NET 6: " + complusFlag + "=1",
		commands: []command{{}}},
	{names: []string{"mono"}, recordable: byCommand, files: []string{"/libmono"}, flags: []string{"--profile=log", "--jitdump"}, set: "MONO_DEBUG=disable_omit_fp", options: "--profile=log:nodefaults,jit,output=app.mlpd", program: "PROGRAM.exe", env: []string{"MONO_ENV_OPTIONS"}, note: "jitinject finds app.mlpd by itself; the variable lets -g find callers",
		commands: []command{{names: []string{"mono", "mono-sgen", "mono-boehm"}, values: "--compile --config"}}},
	{names: []string{"ruby"}, files: []string{"/libruby"}, flags: []string{"--yjit-perf", "--zjit-perf"}, options: "--yjit --yjit-perf", program: "PROGRAM.rb", env: []string{"RUBYOPT"}, note: mapOnly + "; for ZJIT, --zjit-perf",
		commands: []command{{clusters: true, values: "-C -E -I -e -r --encoding --external-encoding --internal-encoding"}}},
	{names: []string{"luajit"}, files: []string{"/libluajit"}, note: "LuaJIT can write no dump; built with -DLUAJIT_USE_PERFTOOLS it writes /tmp/perf-PID.map: names, without lines and code"},
	{names: []string{"bun"}, recordable: byCommand, flags: []string{"useJITDump"}, set: "BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=$PWD", program: "PROGRAM.js", env: []string{"BUN_JSC_useJITDump"},
		commands: []command{{subcommands: "run"}}},
	{names: []string{"js", "firefox"}, flags: []string{"IONPERF"}, set: "PERF_SPEW_DIR=/tmp IONPERF=func", program: "PROGRAM.js", env: []string{"IONPERF"}, note: "a nightly build; in the browser with MOZ_DISABLE_CONTENT_SANDBOX=1",
		commands: []command{{}}},
	{names: []string{"jsc"}, recordable: byOptions, flags: []string{"useJITDump"}, set: "JSC_useSourceCodeDump=1 JSC_useJITDump=1 JSC_jitDumpDirectory=$PWD", program: "PROGRAM.js", env: []string{"JSC_useJITDump"},
		commands: []command{{values: "-e -f -p"}}},
	{files: []string{"/libjavascriptcoregtk"}, note: "the variables JSC_useJITDump=1 JSC_jitDumpDirectory=DIR make WebKitGTK write a dump, if its sandbox lets it write to DIR"},
	{names: []string{"workerd"}, note: `in workerd's configuration, v8Flags = ["--perf-prof"] makes V8 write a dump into the working directory`},
	{names: []string{"raku", "rakudo", "moar"}, recordable: byCommand, files: []string{"/libmoar"}, flags: []string{"MVM_JIT_PERF_MAP", "MVM_JIT_PERF_DUMP"}, set: "MVM_JIT_PERF_MAP=1", program: "PROGRAM.raku", env: []string{"MVM_JIT_PERF_MAP"}, note: mapOnly + "; from MoarVM 2026.05 on, MVM_JIT_PERF_DUMP=DIR writes a dump",
		commands: []command{{values: "-I -M -e"}}},
	{names: []string{"dart"}, flags: []string{"--generate-perf-jitdump"}, options: "--generate-perf-jitdump", program: "PROGRAM.dart",
		commands: []command{{values: "--packages"}}},
	{names: []string{"hermes"}, flags: []string{"-Xperf-prof"}, options: "-Xjit=force -Xperf-prof", program: "PROGRAM.js", note: "a build for arm64 with HERMES_ENABLE_PERF_PROF",
		commands: []command{{anywhere: true}}},
	{names: []string{"qemu"}, recordable: byCommand, flags: []string{"-jitdump"}, options: "-jitdump", program: "PROGRAM", note: "from QEMU 8 on",
		commands: []command{
			{names: []string{"qemu-ARCH", "qemu"}, values: "-0 -B -D -E -L -R -U -cpu -d -dfilter -g -p -plugin -r -s -seed -trace"},
			{names: strings.Fields("qemu-system-aarch64 qemu-system-arm qemu-system-i386 qemu-system-ppc64 qemu-system-riscv64 qemu-system-s390x qemu-system-x86_64"), anywhere: true},
		}},
	{files: []string{"/libwasmtime", "/_libwasmtime"}, note: "wasmtime writes a dump into the working directory if the program's Config asks for it: profiler(ProfilingStrategy::JitDump), wasmtime_config_profiler_set"},
	{files: []string{"/llvmjit.so"}, note: "PostgreSQL writes a dump with jit_profiling_support=on; with jit_debugging_support=on, jitinject --live PID reads the code of a running query: jitinject help gdbjit"},
	{files: []string{"/libLLVM"}, note: "LLVM may register its code for debuggers; while the process runs, jitinject --live PID reads that: jitinject help gdbjit"},
}

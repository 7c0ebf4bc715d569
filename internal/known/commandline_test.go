package known

import (
	"slices"
	"strings"
	"testing"
)

// runtimeOf returns the runtime of a name in the table.
func runtimeOf(t *testing.T, name string) *Runtime {
	t.Helper()
	for i := range all {
		if slices.Contains(all[i].names, name) {
			return &all[i]
		}
	}
	t.Fatalf("there is no runtime %s", name)
	return nil
}

// Options of a runtime end at its program's name: what stands after it are arguments of the program.
func TestRequest_OptionsEndAtProgram(t *testing.T) {
	for _, c := range []struct {
		runtime string
		line    string // after perf record; words are separated by spaces, and ~ is a space in a word
		flag    string // "" if the runtime is not asked for a dump
		program string // that has the flag as its argument, or ""
		advice  string // the command in the advice, if the runtime is not asked
	}{
		{"node", "-g node --perf-prof app.js", "--perf-prof", "", ""},
		{"node", "-g node --perf_prof app.js", "--perf_prof", "", ""},
		{"node", "-g node app.js --perf-prof", "--perf-prof", "app.js", "node --perf-prof app.js"},
		{"node", "-g node app.js --port 80 --perf-prof x", "--perf-prof", "app.js", "node --perf-prof app.js --port 80 x"},
		{"node", "-g node app.js", "", "", "node --perf-prof app.js"},
		{"node", "-g node --inspect app.js it's", "", "", `node --inspect --perf-prof app.js 'it'\''s'`},
		{"node", "-g node --perf-prof-unwinding-info app.js", "", "", "node --perf-prof-unwinding-info --perf-prof app.js"},
		{"node", "node -r ./setup.js --perf-prof app.js", "--perf-prof", "", ""},
		{"node", "node --require ./setup.js app.js --perf-prof", "--perf-prof", "app.js", "node --require ./setup.js --perf-prof app.js"},
		{"node", "node --require=./setup.js --perf-prof app.js", "--perf-prof", "", ""},
		{"node", "node --import tsx --perf-prof app.ts", "--perf-prof", "", ""},
		{"node", "node -e 1 --perf-prof", "--perf-prof", "", ""},
		{"node", "node -p console.log('--perf-prof')", "", "", `node -p 'console.log('\''--perf-prof'\'')' --perf-prof`},
		{"node", "node -- app.js --perf-prof", "--perf-prof", "--", "node --perf-prof -- app.js"},
		{"node", "node - --perf-prof", "--perf-prof", "-", "node --perf-prof -"},
		{"node", "/opt/node-22/bin/node app.js", "", "", "/opt/node-22/bin/node --perf-prof app.js"},
		{"node", "-o node.data node --perf-prof app.js", "--perf-prof", "", ""},
		{"node", "-o node.data node app.js", "", "", "node --perf-prof app.js"},
		{"node", "node run.js node --perf-prof app.js", "--perf-prof", "", ""},
		{"node", "env NODE_OPTIONS=--perf-prof node app.js", "NODE_OPTIONS=--perf-prof", "", ""},
		{"node", "env NODE_ENV=production node app.js", "", "", "node --perf-prof app.js"},
		{"node", "sh -c node~app.js~--perf-prof", "--perf-prof", "app.js", "node --perf-prof app.js"},
		{"node", "sh -c cd~x;node~--perf-prof~app.js&&ls", "--perf-prof", "", ""},
		{"node", "bash -lc NODE_OPTIONS='--perf-prof'~node~app.js", "NODE_OPTIONS=--perf-prof", "", ""},
		{"node", "npm start -- --perf-prof", "--perf-prof", "", ""}, // unknown who has it
		{"node", "-q -k mono -g -o perf.data -- /usr/bin/jitinject record --exec-in-group 7 -- node app.js", "", "", "node --perf-prof app.js"},
		{"node", "-a -- sleep 10", "", "", "node --perf-prof PROGRAM.js"},
		{"electron", "electron . --js-flags=--perf-prof", "--js-flags=--perf-prof", "", ""},
		{"deno", "deno run --v8-flags=--perf-prof app.ts", "--v8-flags=--perf-prof", "", ""},
		{"deno", "deno run app.ts --v8-flags=--perf-prof", "--v8-flags=--perf-prof", "app.ts", "deno run --v8-flags=--perf-prof app.ts"},
		{"deno", "deno run -c deno.json --v8-flags=--perf-prof,--log-code app.ts", "--v8-flags=--perf-prof,--log-code", "", ""},
		{"deno", "deno app.ts", "", "", "deno run --v8-flags=--perf-prof app.ts"},
		{"deno", "-p 7", "", "", "deno run --v8-flags=--perf-prof PROGRAM.ts"},
		{"chromium", "chromium http://localhost --js-flags=--perf-prof", "--js-flags=--perf-prof", "", ""},
		{"chromium", "chromium http://localhost", "", "", "chromium --no-sandbox --js-flags=--perf-prof http://localhost"},
		{"d8", "d8 app.js --perf-prof", "--perf-prof", "", ""},
		{"d8", "d8 app.js -- --perf-prof", "--perf-prof", "--", "d8 --perf-prof app.js --"},
		{"java", "java -agentpath:/x/libjitinject-jvmti.so App", "-agentpath:/x/libjitinject-jvmti.so", "", ""},
		{"java", "java -cp a.jar:b.jar -agentpath:/x/libjitinject-jvmti.so=dir=/tmp App", "-agentpath:/x/libjitinject-jvmti.so=dir=/tmp", "", ""},
		{"java", "java -cp a.jar App -agentpath:/x/libjitinject-jvmti.so -XX:+PreserveFramePointer 5", "-agentpath:/x/libjitinject-jvmti.so", "App", "java -cp a.jar -agentpath:/x/libjitinject-jvmti.so -XX:+PreserveFramePointer App 5"},
		{"java", "java -jar a.jar -agentpath:/x/libjitinject-jvmti.so", "-agentpath:/x/libjitinject-jvmti.so", "a.jar", "java -agentpath:/x/libjitinject-jvmti.so -jar a.jar"},
		{"java", "java -jar -agentpath:/x/libjitinject-jvmti.so a.jar", "-agentpath:/x/libjitinject-jvmti.so", "", ""},
		{"java", "java -agentpath:/x/libasyncProfiler.so=start App", "", "", "java -agentpath:/x/libasyncProfiler.so=start -agentpath:/usr/local/lib/jitinject/libjitinject-jvmti.so -XX:+PreserveFramePointer App"},
		{"java", "java -p mods -m m/App -agentpath:/x/libperf-jvmti.so", "-agentpath:/x/libperf-jvmti.so", "m/App", "java -p mods -agentpath:/x/libperf-jvmti.so -m m/App"},
		{"beam", "erl +JPperf true -noshell -s app main", "+JPperf true", "", ""},
		{"beam", "erl -noshell -s app main +JPperf dump", "+JPperf dump", "", ""},
		{"beam", "erl +JPperf false -s app", "", "", "erl +JPperf true -s app"},
		{"beam", "erl -s app +JPperf truee -noshell", "", "", "erl +JPperf true -s app -noshell"},
		{"php", "php -n -d opcache.jit=function -dopcache.enable_cli=1 -d memory_limit=1G app.php 7", "", "", "php -n -d memory_limit=1G -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=32 -d opcache.file_update_protection=0 app.php 7"},
		{"beam", "erl -s app -extra +JPperf true", "+JPperf true", "-extra", "erl +JPperf true -s app -extra"},
		{"beam", "elixir --erl +JPperf~true app.exs", "--erl +JPperf true", "", ""},
		{"beam", "elixir app.exs --erl +JPperf~true", "--erl +JPperf true", "app.exs", "elixir --erl '+JPperf true' app.exs"},
		{"beam", "elixir -pa ebin app.exs", "", "", "elixir -pa ebin --erl '+JPperf true' app.exs"},
		{"beam", "env ERL_FLAGS=+JPperf~true erl", "ERL_FLAGS=+JPperf true", "", ""},
		{"php", "php8.2 -d opcache.jit_debug=32 app.php", "-d opcache.jit_debug=32", "", ""},
		{"php", "php -dopcache.jit_debug=32 app.php", "-dopcache.jit_debug=32", "", ""},
		{"php", "php -f app.php -d opcache.jit_debug=32", "-d opcache.jit_debug=32", "", ""},
		{"php", "php -n app.php -d opcache.enable_cli=1 -d opcache.jit_debug=32 7", "-d opcache.jit_debug=32", "app.php", "php -n -d opcache.enable_cli=1 -d opcache.jit_debug=32 app.php 7"},
		{"php", "php app.php -dopcache.jit_debug=32", "-dopcache.jit_debug=32", "app.php", "php -dopcache.jit_debug=32 app.php"},
		{"php", "php -r 1; -- -d opcache.jit_debug=32", "-d opcache.jit_debug=32", "--", "php -r '1;' -d opcache.jit_debug=32 --"},
		{"python", "python3 -X perf_jit app.py", "-X perf_jit", "", ""},
		{"python", "python3.13 -Xperf_jit app.py", "-Xperf_jit", "", ""},
		{"python", "python3 -IX perf_jit app.py", "-IX perf_jit", "", ""},
		{"python", "python3 app.py -X perf_jit", "-X perf_jit", "app.py", "python3 -X perf_jit app.py"},
		{"python", "python3 -W error -m pytest -X perf_jit t.py", "-X perf_jit", "pytest", "python3 -W error -X perf_jit -m pytest t.py"},
		{"python", "python3 -Im http.server -X perf_jit", "-X perf_jit", "http.server", "python3 -X perf_jit -Im http.server"},
		{"python", "python3 -c pass -X perf_jit", "-X perf_jit", "pass", "python3 -X perf_jit -c pass"},
		{"python", "env PYTHON_PERF_JIT_SUPPORT=1 python3 app.py", "PYTHON_PERF_JIT_SUPPORT=1", "", ""},
		{"python", "env PYTHON_PERF_JIT_SUPPORT=0 python3 app.py", "", "", "python3 -X perf_jit app.py"},
		{"lli", "lli-14 --jit-kind=mcjit app.bc", "--jit-kind=mcjit", "", ""},
		{"lli", "lli-14 app.bc --jit-kind=mcjit", "--jit-kind=mcjit", "app.bc", "lli-14 --jit-kind=mcjit app.bc"},
		{"wasmtime", "wasmtime --profile jitdump app.wasm", "--profile jitdump", "", ""},
		{"wasmtime", "wasmtime run --dir . --profile=jitdump app.wasm", "--profile=jitdump", "", ""},
		{"wasmtime", "wasmtime run app.wasm --profile jitdump 5", "--profile jitdump", "app.wasm", "wasmtime run --profile jitdump app.wasm 5"},
		{"wasmtime", "wasmtime --profile perfmap app.wasm", "", "", "wasmtime --profile perfmap --profile=jitdump app.wasm"},
		{"dotnet", "env DOTNET_PerfMapEnabled=2 dotnet app.dll", "DOTNET_PerfMapEnabled=2", "", ""},
		{"dotnet", "dotnet app.dll", "", "", "env DOTNET_PerfMapEnabled=2 DOTNET_PerfMapStubGranularity=2 dotnet app.dll"},
		{"mono", "mono --profile=log:nodefaults,jit app.exe", "--profile=log:nodefaults,jit", "", ""},
		{"mono", "mono --config c app.exe --profile=log", "--profile=log", "app.exe", "env MONO_DEBUG=disable_omit_fp mono --config c --profile=log app.exe"},
		{"mono", "-k mono -g mono app.exe --profile=log", "--profile=log", "app.exe", "env MONO_DEBUG=disable_omit_fp mono --profile=log app.exe"},
		{"mono", "-k mono -a", "", "", "mono --profile=log:nodefaults,jit,output=app.mlpd PROGRAM.exe"},
		{"ruby", "ruby3.3 -Ilib --yjit --yjit-perf app.rb", "--yjit-perf", "", ""},
		{"ruby", "ruby -r json app.rb --yjit-perf", "--yjit-perf", "app.rb", "ruby -r json --yjit-perf app.rb"},
		{"ruby", "ruby --zjit app.rb", "", "", "ruby --zjit --zjit-perf app.rb"},
		{"ruby", "ruby --zjit --zjit-perf=hir app.rb", "--zjit-perf=hir", "", ""},
		{"ruby", "ruby app.rb", "", "", "ruby --yjit --yjit-perf app.rb"},
		{"bun", "bun run app.js", "", "", "env BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=$PWD bun run app.js"},
		{"qemu", "qemu-x86_64 -jitdump prog", "-jitdump", "", ""},
		{"qemu", "qemu-x86_64 -L /usr/x prog -jitdump", "-jitdump", "prog", "qemu-x86_64 -L /usr/x -jitdump prog"},
		{"qemu", "qemu-system-x86_64 disk.img -jitdump", "-jitdump", "", ""},
		{"jsc", "jsc app.js", "", "", "env JSC_useSourceCodeDump=1 JSC_useJITDump=1 JSC_jitDumpDirectory=$PWD jsc app.js"},
		{"raku", "env MVM_JIT_PERF_DUMP=/tmp raku app.raku", "MVM_JIT_PERF_DUMP=/tmp", "", ""},
		{"dart", "dart app.dart --generate-perf-jitdump", "--generate-perf-jitdump", "app.dart", "dart --generate-perf-jitdump app.dart"},
		{"hermes", "hermes app.js -Xjit=force -Xperf-prof", "-Xperf-prof", "", ""},
		{"luajit", "luajit app.lua --perf-prof", "", "", ""},
	} {
		r := runtimeOf(t, c.runtime)
		line := append([]string{"perf", "record"}, strings.Fields(c.line)...)
		for i := range line {
			line[i] = strings.ReplaceAll(line[i], "~", " ")
		}
		q := r.Request(line)
		if q.Flag != c.flag || q.Program != c.program {
			t.Errorf("%s: got Flag = %q, Program = %q; want %q, %q", c.line, q.Flag, q.Program, c.flag, c.program)
		}
		advice := r.Advice(line)
		command := advice
		if _, byPerf, ok := strings.Cut(advice, "  # or: "); ok {
			command = byPerf
		}
		if command, _, _ = strings.Cut(command, "  # "); c.advice != "" && !strings.HasSuffix(command, " "+c.advice) {
			t.Errorf("%s: got advice %q; want %q", c.line, advice, c.advice)
		}
	}
}

// No command line makes the reader fail.
func TestRequest_CutAnywhere(t *testing.T) {
	line := strings.Fields("perf record -g -- env A=b sh -c python3 -Im x.y -X perf_jit node --require -- a.js --perf-prof deno run @x java -jar -m php -d erl -extra +JPperf elixir --erl qemu-x86_64 - mono --config --")
	for i := range line {
		for k := i; k <= len(line); k++ {
			for r := range all {
				all[r].Request(line[i:k])
				all[r].Advice(line[i:k])
			}
		}
	}
}

// Python 3.12 knows another option. It ignores that of 3.13, as the recorded command may have it.
func TestAdvice_Python312(t *testing.T) {
	r := python(*runtimeOf(t, "python"), "python3.12", nil)
	for line, want := range map[string]string{
		"/opt/3.12/bin/python3 -X perf_jit app.py 7": "/opt/3.12/bin/python3 -X perf app.py 7",
		"/opt/3.12/bin/python3 app.py -X perf":       "/opt/3.12/bin/python3 -X perf app.py",
	} {
		want = "perf record -k mono --call-graph dwarf " + want + "  # "
		if got := r.Advice(strings.Fields("perf record -g " + line)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q; want %q first", line, got, want)
		}
	}
}

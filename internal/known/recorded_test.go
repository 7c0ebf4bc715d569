package known

import (
	"strings"
	"testing"
)

// jitinject record comes first where it makes the runtime write a dump.
func TestAdvice_Record(t *testing.T) {
	const byRecord = "-q -k mono -g -o perf.data -- /usr/bin/jitinject record --exec-in-group 7 -- "
	for _, c := range []struct{ runtime, line, want string }{ // want is "" if perf's command is the only one
		{"node", "-g node --inspect app.js 7", "node --inspect app.js 7"},
		{"node", "-F 999 -g -- npm run x", "npm run x"}, // a script starts the runtime
		{"node", "env NODE_ENV=production node app.js", "env NODE_ENV=production node app.js"},
		{"node", "sh -c cd~x;node~app.js", "sh -c 'cd x;node app.js'"},
		{"node", "node app.js --perf-prof 7", "node app.js 7"},
		{"node", "env NODE_OPTIONS=--inspect node app.js", "node --perf-prof app.js"}, // replaces record's
		{"node", byRecord + "node app.js", "node --perf-prof app.js"},                 // its variables did not get there
		{"node", "-q -k mono -g -p 7 -o perf.data", "node PROGRAM.js"},
		{"node", "-q -p 7 -- /usr/bin/jitinject record --exec-in-group 7 -- sleep 10", "node PROGRAM.js"}, // node ran already
		{"node", "-a -- sleep 10", "node PROGRAM.js"},
		{"node", "-F 999 -agk mono sleep 10", "node PROGRAM.js"},
		{"node", "-gp7 sleep 10", "node PROGRAM.js"},
		{"node", "--pid=7 sleep 10", "node PROGRAM.js"},
		{"node", "-F max -e cycles:u npm start", "npm start"},
		{"deno", "deno run app.ts", "deno run app.ts"},
		{"java", "mvn test", "mvn test"},
		{"php", "php app.php", "php app.php"},
		{"php", "php -n app.php", "php -n -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=32 -d opcache.file_update_protection=0 app.php"},
		{"python", "python3 -Im app", "python3 -X perf_jit -Im app"},
		{"python", "env PYTHON_PERF_JIT_SUPPORT=0 python3 app.py", "python3 -X perf_jit app.py"},
		{"beam", "erl +JPperf false -s app", "erl +JPperf true -s app"},
		{"beam", "mix test", "mix test"},
		{"mono", "mono app.exe --profile=log", "mono app.exe"},
		{"bun", "bun run app.js", "bun run app.js"},
		{"lli", "lli-14 app.bc", "lli-14 --jit-kind=mcjit app.bc"}, // variables do not suffice
		{"lli", byRecord + "lli-14 app.bc", "lli-14 --jit-kind=mcjit app.bc"},
		{"bun", byRecord + "bun run app.js", "env BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=$PWD bun run app.js"},
		{"node", byRecord + "npm start", "node --perf-prof PROGRAM.js"},
		{"lli", "-a", "lli --jit-kind=mcjit PROGRAM.bc"},
		{"qemu", "qemu-x86_64 prog", "qemu-x86_64 prog"},
		{"jsc", "jsc app.js", "env JSC_useSourceCodeDump=1 JSC_useJITDump=1 JSC_jitDumpDirectory=$PWD jsc app.js"},
		{"chromium", "chromium --headless a.html", "chromium --no-sandbox --js-flags=--perf-prof --headless a.html"},
		{"d8", "d8 app.js", "d8 --perf-prof app.js"},
		{"raku", "raku app.raku", "raku app.raku"},
		{"dotnet", "./app --port 8080", "./app --port 8080"}, // the program contains its runtime
		{"electron", "electron .", ""},
		{"wasmtime", "wasmtime app.wasm", ""},
		{"ruby", "ruby app.rb", ""},
	} {
		line := append([]string{"perf", "record"}, strings.Fields(c.line)...)
		for i := range line {
			line[i] = strings.ReplaceAll(line[i], "~", " ")
		}
		got := runtimeOf(t, c.runtime).Advice(line)
		command, comment, _ := strings.Cut(got, "  # ")
		again := strings.HasPrefix(c.line, byRecord)
		if c.want == "" && !strings.HasPrefix(got, "perf record -k mono ") || c.want != "" && (command != "jitinject record "+c.want || strings.HasPrefix(comment, "or: perf record -k mono ") == again) {
			t.Errorf("%s: got %q; want %q", c.line, got, c.want)
		}
	}
}

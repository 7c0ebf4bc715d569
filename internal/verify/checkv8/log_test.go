package checkv8_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
	"github.com/jitinject/jitinject/jitdump"
)

// Texts of the scripts of the good log. Their names and texts have characters that V8 escapes.
const (
	mainText = "function f(x) {\n  return g(x), 1;\n}\n"
	utilText = "// \\ \u00fc \U0001f600\r\nfunction h(x) { return x * 2; }\u2028function g(x) {\n  return h(x) + 1;\n}\n"
	oddText  = `({'odd,\nname\\x'() {}})`
)

// escaped returns a text as V8 writes it.
func escaped(text string) string {
	return strings.NewReplacer(",", `\x2C`, `\`, `\\`, "\n", `\n`, "\r", `\x0d`, "\u00fc", `\xfc`, "\u2028", `\u2028`, "\U0001f600", `\ud83d\ude00`).Replace(text)
}

// unit returns the offset of a part in a text, in UTF-16 code units.
func unit(text, part string) (n int) {
	for _, r := range text[:strings.Index(text, part)] {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// Script offsets of calls.
var callOfG, callOfH = unit(mainText, "g(x)"), unit(utilText, "h(x) +")

// Addresses of the good log. f is optimized, with g inlined, and in that h. odd is optimized, too.
const (
	codeF   = verifytest.Base
	codeOdd = verifytest.Base + 0x100
	baseG   = verifytest.Base + 0x200
)

// goodLog returns a log without faults.
func goodLog() string {
	h, g := unit(utilText, "(x) {"), unit(utilText, "(x) {\n")
	f, odd := unit(mainText, "(x)"), unit(oddText, "() {}")
	return fmt.Sprintf(`v8-version,14,1,146,11,-node.25,0
v8-platform,linux,linux
new,CodeRange,0x7f0000000000,0
code-creation,Builtin,2,100,0x7e0000001000,64,Abort
code-creation,RegExp,3,110,0x7e0000002000,64,a,b
code-creation,JS,9,200,0x100000001000,20,f /src/main.js:1:11,0x200000000010,~
script-source,1,/src/main.js,%[1]s
code-source-info,0x100000001000,1,%[2]d,%[3]d,C0O%[2]dC5O%[4]d,,
code-creation,JS,9,300,0x100000002000,20,h /src/%[5]s.js:2:11,0x200000000020,~
script-source,2,/src/%[5]s.js,%[6]s
code-source-info,0x100000002000,2,%[7]d,%[8]d,C0O%[7]d,,
code-creation,JS,9,310,0x100000003000,20,g /src/%[5]s.js:3:11,0x200000000040,~
code-source-info,0x100000003000,2,%[9]d,%[10]d,C0O%[9]d,,
sfi-move,0x200000000040,0x200000000030
sfi-move,0x1,0x2
code-move,0x100000003000,0x100000004000
code-creation,JS,10,390,0x7f0000001200,48,g /src/%[5]s.js:3:11,0x200000000030,^
code-source-info,0x7f0000001200,2,%[9]d,%[10]d,,,
code-creation,JS,12,400,0x7f0000001000,48,f /src/main.js:1:11,0x200000000010,*
code-source-info,0x7f0000001000,1,%[2]d,%[3]d,C0O-1C4O%[2]dC8O%[11]dI0C8O%[12]dI1C16O%[2]dI2C47O%[4]d,F0O%[4]dF1O%[11]dI0FO%[4]d,S0x200000000030S0x200000000020
code-creation,JS,9,500,0x100000005000,20,odd,
name\x /src/odd.js:1:%[13]d,0x200000000050,~
script-source,3,/src/odd.js,%[14]s
code-source-info,0x100000005000,3,%[15]d,%[16]d,C0O%[15]d,,
code-creation,JS,12,600,0x7f0000001100,48,odd,
name\x /src/odd.js:1:%[13]d,0x200000000050,o*'
code-source-info,0x7f0000001100,3,%[15]d,%[16]d,C0O%[15]d,,
`, escaped(mainText), f, len(mainText)-1, callOfG, `\xfc\x2C`, escaped(utilText), h, unit(utilText, "\u2028"), g, unit(utilText, "\n}\n")+2,
		callOfH, unit(utilText, "x * 2"), odd+1, escaped(oddText), odd, odd+len("() {}"))
}

// A change replaces the first part of the log that is old.
type change struct{ old, new string }

// changed returns the good log with changes. It fails if there is nothing to change.
func changed(t testing.TB, changes ...change) string {
	t.Helper()
	log := goodLog()
	for _, c := range changes {
		if !strings.Contains(log, c.old) {
			t.Fatalf("got no %q in the log; want one", c.old)
		}
		log = strings.Replace(log, c.old, c.new, 1)
	}
	return log
}

// A loaded is a load of the good dump.
type loaded struct {
	time, addr uint64
	name       string
}

// goodLoads are the loads of the good log's code. Its times are 1 s and 0.1 µs after the log's.
func goodLoads() []loaded {
	return []loaded{
		{1_000_390_100, baseG, "JS:^g /src/\u00fc,.js:3:11"},
		{1_000_400_100, codeF, "JS:*f /src/main.js:1:11"},
		{1_000_600_100, codeOdd, "JS:o*'odd,\nname\\x /src/odd.js:1:18"},
	}
}

// dumpOf returns a dump with loads.
func dumpOf(t *testing.T, loads []loaded) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := jitdump.NewWriter(&b, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: 62, PID: verifytest.PID})
	if err != nil {
		t.Fatal(err)
	}
	write := func(tid uint32, index int, l loaded) {
		err := w.Write(l.time, &jitdump.Load{PID: verifytest.PID, TID: tid, VMA: l.addr, CodeAddr: l.addr, CodeSize: 0x30, CodeIndex: uint64(index), Name: []byte(l.name), Code: verifytest.Code()})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(verifytest.PID+1, 99, loaded{1_000_390_000, codeF + 0x1000, "JS:*f /src/main.js:1:11"}) // of a worker
	for i, l := range loads {
		write(verifytest.PID, i, l)
	}
	return b.Bytes()
}

// alone writes a log. Its name is the default one.
func alone(t *testing.T, dir, log string) string {
	t.Helper()
	return verifytest.Write(t, dir, "isolate-0x1000-4711-v8.log", []byte(log))
}

// beside returns a log with its dump.
func beside(t *testing.T, dir, log string, loads []loaded) (string, verify.Options) {
	t.Helper()
	return alone(t, dir, log), verify.Options{Dumps: []string{verifytest.Write(t, dir, "jit-4711.dump", dumpOf(t, loads))}}
}

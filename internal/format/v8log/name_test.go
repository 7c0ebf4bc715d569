package v8log

import "testing"

func TestProcessOf_NamesOfV8(t *testing.T) {
	for name, want := range map[string]uint32{
		"isolate-0x41e2cb80-9499-v8.log":            9499,  // --perf-prof, --logfile=v8.log
		"isolate-0x7f3ea4000f00-11911-v8-11911.log": 11911, // --logfile=v8-%p.log
		"isolate-0x1-7-app-1-2.log":                 7,
		"v8.log":                                    0,
		"isolate-0x1-7-v8.log.txt":                  0,
		"isolate-0x1-7-":                            0,
		"isolate-0x1-v8.log":                        0, // old versions
		"isolate-0x1-99999999999-v8.log":            0,
		"my-isolate-0x1-7-v8.log":                   0,
	} {
		if pid, ok := ProcessOf(name); ok != (want != 0) || ok && pid != want {
			t.Errorf("%s: got process %d, %v; want %d", name, pid, ok, want)
		}
	}
}

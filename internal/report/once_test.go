package report

import "testing"

func TestAbout_NamesTheFileOnce(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"perf.data", "perf.data: file header: size at offset 0x8: is 3", "perf.data: file header: size at offset 0x8: is 3"},
		{"dir/perf.data", "perf.data: file header: is 3", "dir/perf.data: file header: is 3"},
		{"x.data", "perf.data: file header: is 3", "x.data: perf.data: file header: is 3"},
		{"a.map", "stat a.map: input/output error", "a.map: input/output error"},
		{"a.core", "core dump: ELF header at offset 0: read a.core: input/output error", "a.core: core dump: ELF header at offset 0: input/output error"},
		{"a.data", "open b.map: permission denied", "a.data: open b.map: permission denied"},
		{"it.data", "cannot read it: input/output error", "it.data: cannot read it: input/output error"},
		{"standard input", "read |0: input/output error", "standard input: input/output error"},
		{"a\x1b", "read a\x1b: input/output error", "a\\x1b: read a\x1b: input/output error"},
	} {
		if got := About(c.path, c.text); got != c.want {
			t.Errorf("%s, %s: got %q; want %q", c.path, c.text, got, c.want)
		}
	}
}

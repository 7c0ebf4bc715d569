package judge

import (
	"reflect"
	"strings"
	"testing"
)

func TestMappings_OfSeveralPerfs(t *testing.T) {
	perf := fakePerf(t, `echo "$@" >&2; cat <<'END'
ld-linux-x86-64 19521 12915.481865: PERF_RECORD_MMAP2 19521/19521: [0x7ff94cec8000(0xc) @ 0x80 <72a8b2dc6e91c04efb6f81418b7b328bfcc173ad>]: r-xp /a b/jitbundle-1.so
 19521
app     1 PERF_RECORD_MMAP2 1/2: [0x5600(0x1000) @ 0 fe:00 1234 0]: r-xp /usr/bin/app
PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0xffffffff81000000]: x [kernel.kallsyms]_text
END`)
	got, err := Mappings(t.Context(), perf, "x.data")
	if err != nil {
		t.Fatal(err)
	}
	want := []Mapping{
		{19521, 0x7ff94cec8000, 0xc, 0x80, "/a b/jitbundle-1.so"},
		{1, 0x5600, 0x1000, 0, "/usr/bin/app"},
		{-1, 0xffffffff81000000, 0x1000, 0xffffffff81000000, "[kernel.kallsyms]_text"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMappings_Errors(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"perf fails", "echo no such file >&2; exit 3", "exit status 3: no such file"},
		{"too large a number", "echo 'PERF_RECORD_MMAP2 1/1: [0x1ffffffffffffffff(0x1) @ 0 0]: r-xp /a'", "line 1: "},
	} {
		if _, err := Mappings(t.Context(), fakePerf(t, c.script), "x.data"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

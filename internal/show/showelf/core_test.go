package showelf_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

func TestCore(t *testing.T) {
	path := filepath.Join("..", "..", "elfcore", "testdata", "kernel-i386.core")
	shown := func(opts show.Options) string {
		t.Helper()
		var out bytes.Buffer
		if err := showtest.File(&out, path, &opts); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	all := shown(show.Options{})
	for _, want := range []string{
		`format="core dump" class=32-bit order=little-endian machine=3(i386) pid=20739 parent=20737 command=i386 args=./i386`,
		"thread tid=20739 pc=0x4010ee sp=0xffdfa7f0 thread_pointer=0x0 signal=11",
		"addr=0x401000 len=4096 flags=read|execute",
		"filename=/srv/build/x/i386",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %s in\n%s", want, all)
		}
	}
	some := shown(show.Options{Filter: show.Filter{Types: []string{"thread"}}})
	if strings.Contains(some, "mapping addr") || !strings.Contains(some, "thread tid") {
		t.Errorf("threads alone are\n%s", some)
	}
	one := shown(show.Options{Filter: show.Filter{Address: show.Range{Set: true, First: 0x401000, Last: 0x401000}, Types: []string{"memory"}}})
	if strings.Count(one, " memory ") != 1 {
		t.Errorf("memory at an address is\n%s", one)
	}
	if json := shown(show.Options{JSON: true}); !strings.Contains(json, `{"type":"thread","tid":20739,"pc":"0x4010ee"`) {
		t.Errorf("as JSON it is\n%s", json)
	}
}

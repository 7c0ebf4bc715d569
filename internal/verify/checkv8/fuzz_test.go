package checkv8

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzLog: whatever the bytes are, nothing panics, and every complaint is about a rule of the table.
func FuzzLog(f *testing.F) {
	for _, name := range []string{"node20.log", "node25.log"} {
		b, err := os.ReadFile("../../format/v8log/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("v8-version,14,1,1,1,0\ncode-creation,JS,12,1,0x1000,9,a\nb c:1:1,0x1,*\nscript-source,1,c,x\\x2Cy\ncode-source-info,0x1000,1,0,2,C0O0I1C1O1,F0O0I1FO0I0,S0x1\nsfi-move,0x1,0x2\n"))
	f.Add([]byte("v8-version,11,3,244,8,-node.38,0\nv8-platform,linux,linux\ncode-creation\nBu"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		c := newChecker(verifytest.Reporter(t, rules))
		c.keep = true
		if err := c.check(context.Background(), bytes.NewReader(in)); err != nil {
			t.Error(err)
		}
		if c.lines.next != int64(len(in)) {
			t.Errorf("got %d bytes read; want %d", c.lines.next, len(in))
		}
	})
}

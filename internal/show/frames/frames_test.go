package frames

import (
	"bytes"
	"debug/elf"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What unwinders find at each address of the system's library of mathematics is what
// readelf finds: where functions begin, and the CFA of each row.
func TestFramesLikeReadelf(t *testing.T) {
	const library = "/lib/x86_64-linux-gnu/libm.so.6"
	if _, err := os.Stat(library); err != nil {
		testrec.Skip(t, "%v", err)
	}
	row := regexp.MustCompile(`^([0-9a-f]{16}) ([a-z0-9]+[+-][0-9]+|exp) `)
	fde := regexp.MustCompile(` FDE cie=.* pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	var want []string
	inFDE := false
	for line := range strings.Lines(testrec.Run(t, t.TempDir(), testrec.Tool(t, "readelf"), "--debug-dump=frames-interp,no-follow-links", library)) {
		if strings.Contains(line, " CIE ") {
			inFDE = false
		} else if m := fde.FindStringSubmatch(line); m != nil {
			inFDE = true
			first, _ := strconv.ParseUint(m[1], 16, 64)
			end, _ := strconv.ParseUint(m[2], 16, 64)
			want = append(want, "FDE "+strconv.FormatUint(first, 16)+" "+strconv.FormatUint(end-first, 10))
		} else if m := row.FindStringSubmatch(line); m != nil && inFDE {
			pc, _ := strconv.ParseUint(m[1], 16, 64)
			want = append(want, strconv.FormatUint(pc, 16)+" "+strings.Replace(m[2], "exp", "expression", 1))
		}
	}

	f, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".eh_frame")
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := show.NewForm(&out, false, false)
	o.Begin(show.Item{Type: "unwind", Size: -1})
	o.List("frames")
	table := Table{Out: o, Place: callframe.Place{Order: f.ByteOrder, Machine: f.Machine, AddrSize: 8, Addr: s.Addr}}
	table.Show(data)
	o.EndList()
	o.End()
	o.Flush()
	ours := regexp.MustCompile(`FDE .* pc_begin=0x([0-9a-f]+) pc_range=([0-9]+)|0x([0-9a-f]+)  CFA=(\S+)`)
	var got []string
	for _, m := range ours.FindAllStringSubmatch(out.String(), -1) {
		if m[1] != "" {
			got = append(got, "FDE "+m[1]+" "+m[2])
		} else {
			got = append(got, m[3]+" "+m[4])
		}
	}
	if strings.Contains(out.String(), " error ") || len(want) < 1000 {
		t.Fatalf("%d rows of readelf, %d of ours", len(want), len(got))
	}
	// Readelf leaves out rows that say nothing new; ours must say the same then.
	i := 0
	for _, g := range got {
		if i < len(want) && g == want[i] {
			i++
		} else if i > 0 && i < len(want) {
			_, gCFA, _ := strings.Cut(g, " ")
			_, wCFA, _ := strings.Cut(want[i-1], " ")
			if strings.HasPrefix(want[i-1], "FDE") {
				wCFA = "rsp+8" // what the CIE says; an FDE that adds nothing has no rows there
			}
			if gCFA != wCFA {
				t.Fatalf("behind %q comes %q, readelf has %q", want[i-1], g, want[i])
			}
		}
	}
	if i != len(want) {
		t.Errorf("%d of readelf's %d rows are among ours", i, len(want))
	}
}

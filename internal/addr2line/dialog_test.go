package addr2line

import (
	"strings"
	"testing"
)

// dialogs are what perf asks, what addr2line gets and answers, and what perf gets.
var dialogs = []struct {
	name, asked, got, answered, want string
	wantsAddress                     bool
}{
	{
		"perf 6.1, binutils",
		"0000000000001040\n,\n0000000000000010\n,\n",
		"0000000000001040\nffffffffffffffff\n0000000000000010\nffffffffffffffff\n",
		"0x0000000000001040\nh\na.c:2\nmain\na.c:3\n0xffffffffffffffff\n??\n??:0\n0x0000000000000010\n??\n??:?\n0xffffffffffffffff\n??\n??:0\n",
		"h\na.c:2\nmain\na.c:3\n??\n??:0\n??\n??:?\n??\n??:0\n",
		false,
	}, {
		"perf 6.12, binutils, with the test of style",
		",\n0000000000001040\n,\n",
		"ffffffffffffffff\n0000000000001040\nffffffffffffffff\n",
		"0xffffffffffffffff\n??\n??:0\n0x0000000000001040\nh\na.c:2\n0xffffffffffffffff\n??\n??:0\n",
		"0x0000000000000000\n??\n??:0\n0x0000000000001040\nh\na.c:2\n0x0000000000000000\n??\n??:0\n",
		true,
	}, {
		"perf 6.12, binutils, a file of 32 bits",
		",\n0000000000001040\n,\n",
		"ffffffffffffffff\n0000000000001040\nffffffffffffffff\n",
		"0xffffffff\n??\n??:0\n0x00001040\nh\na.c:2\n0xffffffff\n??\n??:0\n",
		"0x00000000\n??\n??:0\n0x00001040\nh\na.c:2\n0x00000000\n??\n??:0\n",
		true,
	}, {
		"perf 6.12, LLVM, which names a symbol after the last address",
		",\n0000000000001040\n,\n",
		"ffffffffffffffff\n0000000000001040\nffffffffffffffff\n",
		"0xffffffffffffffff\n_end\n??:0\n0x1040\nh\na.c:2\n0xffffffffffffffff\n_end\n??:0\n",
		"0x0000000000000000\n??\n??:0\n0x1040\nh\na.c:2\n0x0000000000000000\n??\n??:0\n",
		true,
	}, {
		"perf 6.1, functions that look like addresses",
		"0000000000001040\n,\n0000000000001041\n,\n",
		"0000000000001040\nffffffffffffffff\n0000000000001041\nffffffffffffffff\n",
		"0x0000000000001040\n0x1041\na.c:2\n0xffffffffffffffff\n??\n??:0\n0x0000000000001041\n0x41\n0xffffffffffffffff\n0xffffffffffffffff\n??\n??:0\n",
		"0x1041\na.c:2\n??\n??:0\n0x41\n0xffffffffffffffff\n??\n??:0\n",
		false,
	},
}

func TestExchange_PerfGetsWhatItExpects(t *testing.T) {
	for _, d := range dialogs {
		for _, size := range []int{1, 2, 3, 7, 1000} {
			x := exchange{wantsAddress: d.wantsAddress}
			if got := inChunks(x.ask, d.asked, size); got != d.got {
				t.Errorf("%s, %d bytes at once: addr2line gets %q; want %q", d.name, size, got, d.got)
			}
			if got := inChunks(x.reply, d.answered, size); got != d.want {
				t.Errorf("%s, %d bytes at once: perf gets %q; want %q", d.name, size, got, d.want)
			}
			if len(x.asked) > 0 {
				t.Errorf("%s: got %x without an answer; want none", d.name, x.asked)
			}
		}
	}
}

// Lines that are no address and no answer pass unchanged.
func TestExchange_OtherLinesPass(t *testing.T) {
	x := exchange{}
	const text = ",,\nmain\n\n ,\n"
	if got := inChunks(x.ask, text, 3); got != text || len(x.asked) > 0 {
		t.Errorf("got %q, %x; want %q, no addresses", got, x.asked, text)
	}
	const answers = "??\n??:0\n0x10\n??:0\n"
	if got := inChunks(x.reply, answers, 3); got != answers {
		t.Errorf("got %q; want %q", got, answers)
	}
}

// inChunks passes a text some bytes at a time.
func inChunks(f func(dst, input []byte) []byte, text string, size int) string {
	var out strings.Builder
	var dst []byte
	for len(text) > 0 {
		n := min(size, len(text))
		dst = f(dst[:0], []byte(text[:n]))
		out.Write(dst)
		text = text[n:]
	}
	return out.String()
}

func TestIsDialog_PerfsArgumentsOnly(t *testing.T) {
	for words, want := range map[string][2]bool{
		"-e FILE -i -f":      {false, true},
		"-e FILE -a -i -f":   {true, true},
		"-e FILE -i":         {},
		"-e FILE -i -f 1040": {},
		"-e FILE -fi":        {},
		"-e FILE -i -f -C":   {},
		"-i -f -e FILE":      {},
		"--version":          {},
		"":                   {},
	} {
		if wantsAddress, is := isDialog(strings.Fields(words)); wantsAddress != want[0] || is != want[1] {
			t.Errorf("%q: got %v, %v; want %v", words, wantsAddress, is, want)
		}
	}
}

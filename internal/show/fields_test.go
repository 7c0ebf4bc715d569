package show

import (
	"bytes"
	"fmt"
	"testing"
)

type part struct {
	Start uint64 `show:"start,at"`
	Size  uint16 `show:"part_size"`
}

type letters uint8

func (letters) String() string { return "A|B" }

// A body has what the filter chooses from.
type body struct {
	Letters letters `show:"letters,set"`
	None    letters `show:"none,set"`
	Machine uint16  `show:"machine,machine"`
	Data    []byte  `show:"data_size,len"`
	Padding []byte  `show:"padding,extra"`
	Beyond  []byte  `show:"beyond,extra"`
	Spare   [2]byte `show:"spare,opt"`
	Inner   *struct {
		Yes bool `show:"yes"`
	} `show:""`
	Entries []entry `show:"entries,picked"`
}

type entry struct {
	Offset int    `show:"offset,offset,row:index"`
	Code   uint64 `show:"code,addr"`
	Name   string `show:"name,name"`
}

func newBody() *body {
	return &body{Letters: 1, Machine: 62, Data: make([]byte, 3), Padding: make([]byte, 7), Beyond: []byte{0, 1}, Spare: [2]byte{0, 0xff},
		Inner: &struct {
			Yes bool `show:"yes"`
		}{true}, Entries: []entry{{16, 0x1000, "one"}, {32, 0x2000, "two"}}}
}

// Of a list that says so, only the rows are shown that the filter is about.
func TestRecord_PicksRows(t *testing.T) {
	const head = "0x00000010                       thing           size=4 letters=A|B none=0 machine=62(x86-64) data_size=3 beyond=2 spare=00ff yes=yes\n"
	const one, two = "    0x10  index=0 code=0x1000 name=one\n", "    0x20  index=1 code=0x2000 name=two\n"
	for name, c := range map[string]struct {
		filter Filter
		want   string
	}{
		"all":                  {Filter{}, head + one + two},
		"by name":              {Filter{Names: []Name{{Part: "tw"}}}, head + two},
		"by address":           {Filter{Address: Range{Set: true, First: 0x1000, Last: 0x1000}}, head + one},
		"by both, of one row":  {Filter{Names: []Name{{Part: "one"}}, Address: Range{Set: true, First: 0x1000, Last: 0x1000}}, head + one},
		"by both, of two rows": {Filter{Names: []Name{{Part: "one"}}, Address: Range{Set: true, First: 0x2000, Last: 0x2000}}, ""},
		"no row":               {Filter{Names: []Name{{Part: "three"}}}, ""},
	} {
		if got := shownRecord(Options{Filter: c.filter}, newBody(), nil); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

type record struct {
	PID     uint32   `show:"pid,pid"`
	Flags   uint64   `show:"flags,bits:read|write"`
	Raw     uint64   `show:"raw,hex"`
	Code    uint64   `show:"code,addr:Size"`
	Size    uint64   `show:"code_size"`
	VMA     uint64   `show:"vma,addr,unless:Code"`
	When    uint64   `show:"when,time"`
	Kind    uint8    `show:"kind,names:none|some"`
	Bits    uint8    `show:"late,flag:0x80"`
	Delta   int64    `show:"delta"`
	ID      []byte   `show:"id,id"`
	Name    []byte   `show:"name,name"`
	Title   string   `show:"title,opt"`
	Old     uint8    `show:"old,until:3"`
	New     uint8    `show:"new,since:4"`
	Method  uint64   `show:"method,hex,known"`
	Numbers []uint32 `show:"numbers"`
	IPs     []uint64 `show:"ips,addr"`
	Texts   [][]byte `show:"texts"`
	Parts   []part   `show:"parts"`
	Hidden  uint64
}

func newRecord() *record {
	return &record{PID: 7, Flags: 6, Raw: 16, Code: 0x1000, Size: 16, VMA: 0x1000, When: 1_500_000_000, Kind: 1, Bits: 0x80, Delta: -1,
		ID: []byte{0xab}, Name: []byte("a b\x1b"), Old: 1, New: 2, Method: 0x10, Numbers: []uint32{1, 2}, IPs: []uint64{0x2000}, Texts: [][]byte{[]byte("x")},
		Parts: []part{{0x1000, 4}}}
}

// shownRecord returns what a record is shown as, in a file with a version.
func shownRecord(opts Options, rec any, table *Fields) string {
	var b bytes.Buffer
	v := &Viewer{Opts: &opts, Version: 4,
		Known: func(_ string, v uint64) (string, string) { return "method_name", fmt.Sprintf("m%d", v) },
		Add: func(o *Form, rec any) {
			if p, ok := rec.(*part); ok {
				o.Num("end", p.Start+uint64(p.Size))
			}
		}}
	v.Out = &Form{w: &b}
	if opts.JSON {
		v.Out = &Form{w: &b, json: true}
	}
	v.Record(Item{Offset: 16, Type: "thing", Size: 4}, rec, table)
	v.Out.Flush()
	return b.String()
}

func TestRecord_EveryOption(t *testing.T) {
	const text = "0x00000010                       thing           size=4 pid=7 flags=write|0x4 raw=0x10 code=0x1000 code_size=16 when=1.500000000 kind=1(some) " +
		`late=yes delta=-1 id=ab name="a b\x1b" new=2 method=0x10 method_name=m16 numbers=[1 2] ips=[0x2000] texts=[x]` + "\n" +
		"    0x1000  part_size=4 end=4100\n"
	if got := shownRecord(Options{}, newRecord(), nil); got != text {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
	const json = `{"offset":16,"type":"thing","size":4,"pid":7,"flags":["write","0x4"],"raw":"0x10","code":"0x1000","code_size":16,"when":"1.500000000","kind":1,"kind_name":"some",` +
		`"late":"yes","delta":-1,"id":"ab","name":"a b\u001b","new":2,"method":"0x10","method_name":"m16","numbers":[1,2],"ips":["0x2000"],"texts":["x"],` +
		`"parts":[{"start":"0x1000","part_size":4,"end":4100}]}` + "\n"
	if got := shownRecord(Options{JSON: true}, newRecord(), nil); got != json {
		t.Errorf("got\n%s\nwant\n%s", got, json)
	}
	rec := newRecord()
	rec.VMA, rec.Bits, rec.Title = 0x3000, 0x7f, "title"
	table := Table(record{}, []string{"where=VMA,addr,unless:Code", "late=Bits,flag:0x80", "t=Title,opt"})
	if got, want := shownRecord(Options{}, rec, table), "0x00000010                       thing           size=4 where=0x3000 t=title\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRecord_FilterFindsFields(t *testing.T) {
	address := func(first, last uint64) Filter { return Filter{Address: Range{Set: true, First: first, Last: last}} }
	for name, c := range map[string]struct {
		filter Filter
		shown  bool
	}{
		"the process":                {Filter{PIDs: []uint32{7}}, true},
		"another process":            {Filter{PIDs: []uint32{4, 16}}, false},
		"the last byte":              {address(0x100f, 0x100f), true},
		"behind the last byte":       {address(0x1010, 0x1fff), false},
		"an address in an array":     {address(0x2000, 0x2000), true},
		"bits are no address":        {address(1, 0xff), false},
		"the name":                   {Filter{Names: []Name{{Part: "a b"}}}, true},
		"what the file calls it":     {Filter{Names: []Name{{Part: "m16"}}}, true},
		"a text that is no name":     {Filter{Names: []Name{{Part: "x"}}}, false},
		"one part of the filter":     {Filter{PIDs: []uint32{7}, Names: []Name{{Part: "zz"}}}, false},
		"the type":                   {Filter{Types: []string{"THING"}}, true},
		"another type":               {Filter{Types: []string{"other"}}, false},
		"a time, which is not there": {Filter{Time: Range{Set: true, Last: 1 << 62}}, false},
	} {
		if got := shownRecord(Options{Filter: c.filter}, newRecord(), nil); (got != "") != c.shown {
			t.Errorf("%s: got %q; want it shown: %v", name, got, c.shown)
		}
	}
}

// A table with a mistake fails when the program starts, and so in each test.
func TestTable_Mistakes(t *testing.T) {
	for _, spec := range []string{"key=Nowhere", "key=PID,hexx", "key=Code,addr:Nowhere", "key=PID,since:x"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the table %q is taken", spec)
				}
			}()
			Table(record{}, []string{spec})
		}()
	}
}

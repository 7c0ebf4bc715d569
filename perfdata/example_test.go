package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// recorded returns the perf.data of a recording of this repository, in a directory that
// the caller removes.
func recorded(name string) (path, dir string) {
	dir, err := os.MkdirTemp("", "")
	if err == nil {
		err = testrec.UnpackTo(name, dir)
	}
	if err != nil {
		panic(err)
	}
	return filepath.Join(dir, "perf.data"), dir
}

// How many samples each process has, and how deep the deepest callchain is.
func ExampleLayouts_DecodeSample() {
	path, dir := recorded("node-fp")
	defer os.RemoveAll(dir)

	file, err := os.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := perfdata.Open(file, st.Size())
	if err != nil {
		fmt.Println(err)
		return
	}
	layouts, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		fmt.Println(err)
		return
	}
	samples := make(map[uint32]int)
	var deepest perfdata.Sample
	var s perfdata.Sample // its memory is used again for each sample
	for rec, err := range perfdata.Records(f.Blocks()) {
		if err != nil {
			fmt.Println(err)
			break
		}
		if rec.Type != perfdata.RecordSample {
			continue
		}
		if err := layouts.DecodeSample(rec, perfdata.FieldCallchain, &s); err != nil {
			fmt.Println(err)
			continue
		}
		samples[s.PID]++
		if len(s.Callchain) > len(deepest.Callchain) {
			deepest, s = s, deepest
		}
	}
	fmt.Println(samples)
	fmt.Printf("at %d ns, from %#x:\n", deepest.Time, deepest.IP)
	for _, ip := range deepest.Callchain[:4] {
		switch {
		case ip == perfdata.ContextKernel:
			fmt.Println("in the kernel")
		case ip == perfdata.ContextUser:
			fmt.Println("in user space")
		case ip < perfdata.ContextMin:
			fmt.Printf("%#x\n", ip)
		}
	}
	// Output:
	// map[9906:1020]
	// at 4589702600947 ns, from 0xffffffff822010c9:
	// in the kernel
	// 0xffffffff822010c9
	// 0xffffffff813a81c2
	// 0xffffffff81356675
}

// All records of a recording in whatever form: a file, or what perf record -o - writes.
func ExampleRecords() {
	path, dir := recorded("node-fp")
	defer os.RemoveAll(dir)
	file, err := os.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()

	st, _ := file.Stat()
	f, err := perfdata.Open(file, st.Size())
	if err != nil {
		fmt.Println(err)
		return
	}
	count := make(map[perfdata.RecordType]int)
	for rec, err := range perfdata.Records(f.Blocks()) {
		if err != nil {
			fmt.Println(err)
			break
		}
		count[rec.Type]++
	}
	fmt.Println(count[perfdata.RecordSample], perfdata.RecordSample)
	fmt.Println(count[perfdata.RecordMmap2], perfdata.RecordMmap2)
	// Output:
	// 1020 SAMPLE
	// 15 MMAP2
}

// Where a recording is damaged.
func ExampleError() {
	header := make([]byte, 104)
	copy(header, "PERFILE2")
	binary.LittleEndian.PutUint64(header[8:], 104)
	binary.LittleEndian.PutUint64(header[16:], 7)
	_, err := perfdata.Open(bytes.NewReader(header), int64(len(header)))
	var at *perfdata.Error
	if errors.As(err, &at) {
		fmt.Println("record:", at.Record)
		fmt.Println("field:", at.Field)
		fmt.Println("offset:", at.Offset)
		fmt.Println("text:", at.Text)
	}
	// Output:
	// record: file header
	// field: attr_size
	// offset: 16
	// text: is 7; a perf_event_attr has at least 64 bytes, and 16 more say where its ids are
}

package v8

import (
	"bytes"
	"context"
	"testing"

	"github.com/jitinject/jitinject/internal/format/v8log"
)

// Whatever a log has, each description of code keeps the rules of trees and lines.
func FuzzTree(f *testing.F) {
	for _, name := range []string{"node20", "node25"} {
		log, _ := sample(f, name)
		f.Add(log)
	}
	f.Add([]byte("v8-version,11,3,244,8,0\nscript-source,1,/a.js,one\\ntwo\ncode-creation,JS,13,9,0x1000,64,f,\\\n /a.js:1:1,0x20,*\ncode-source-info,0x1000,1,0,7,C0O0C4O4I0C8O5I1,F0O4F0O5I0,S0x20\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !v8log.IsLog(bytes.NewReader(b)) {
			return
		}
		// All code of the log is wanted.
		wanted := make(map[place]int)
		r, err := v8log.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 1000; n++ {
			rec, err := r.Next()
			if c, ok := rec.(*v8log.CodeCreation); ok && err == nil {
				wanted[place{c.Address, c.Size}]++
			}
		}
		x, err := readIndex(context.Background(), bytes.NewReader(b), "v8.log", wanted)
		if err != nil {
			t.Fatal(err)
		}
		trees := &Trees{functions: make(map[int]described)}
		for i := range x.objects {
			trees.functions[i] = described{index: x, object: int32(i)}
		}
		for i := range x.objects {
			size := x.objects[i].size
			info, _, err := trees.Tree(i, size)
			if info == nil && err == nil {
				t.Errorf("object %d: got neither a description nor an error; want one", i)
			}
			if info == nil {
				continue
			}
			if err := info.CheckTree(size); err != nil {
				t.Errorf("object %d: got %v; want a valid tree", i, err)
			}
			if err := info.CheckLines(); err != nil {
				t.Errorf("object %d: got %v; want valid lines", i, err)
			}
		}
	})
}

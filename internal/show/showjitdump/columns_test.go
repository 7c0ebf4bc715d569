package showjitdump_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/jitdump"
)

// A column of DEBUG_INFO2 counts from 0. It is printed from 1, and an unknown one is left out.
func TestColumns_FromOne(t *testing.T) {
	tree := &jitdump.DebugInfo2{
		Files: [][]byte{[]byte("a.js")}, Names: [][]byte{[]byte("f")},
		Functions: []jitdump.SourceFunction{{Line: 1, Column: 0}},
		Lines:     []jitdump.SourceLine{{Offset: 0, Line: 2, Column: 4}, {Offset: 2, Line: 3, Column: jitdump.NoColumn}},
	}
	var b bytes.Buffer
	w, err := jitdump.NewWriter(&b, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: 62, PID: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []jitdump.Record{
		tree, &jitdump.Load{PID: 100, TID: 100, CodeAddr: 0x1000, Name: []byte("f"), Code: []byte{0x90, 0x90, 0x90, 0xc3}},
	} {
		if err := w.Write(1, rec); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "jit-100.dump")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := showtest.File(&out, path, &show.Options{JSON: true, Disassemble: true}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		got = append(got, places(v)...)
	}
	code := []string{"2:5", "2:5", "3", "3"} // of four instructions
	want := slices.Concat([]string{"1:1", "2:5", "3"}, code)
	if !slices.Equal(got, want) {
		t.Errorf("places %v, want %v:\n%s", got, want, out.String())
	}
}

// places are the lines and columns in JSON, in the order of its lists.
func places(v any) (found []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			found = append(found, places(e)...)
		}
	case map[string]any:
		if line, ok := v["line"].(float64); ok {
			b, _ := json.Marshal(line)
			if column, ok := v["column"].(float64); ok {
				c, _ := json.Marshal(column)
				b = append(append(b, ':'), c...)
			}
			found = append(found, string(b))
		}
		for _, key := range []string{"line_table", "positions", "code"} {
			found = append(found, places(v[key])...)
		}
	}
	return found
}

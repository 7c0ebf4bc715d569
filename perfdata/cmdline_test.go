package perfdata_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/perfdata"
)

// The command line of a recording made by hand, in both byte orders, and cut anywhere.
func TestCmdline_CutAnywhere(t *testing.T) {
	want := []string{"/usr/bin/perf", "record", "", "node", "--perf-prof"}
	for _, order := range []interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}{binary.LittleEndian, binary.BigEndian} {
		content := order.AppendUint32(nil, uint32(len(want)))
		for _, arg := range want {
			padded := (len(arg) + 1 + 63) &^ 63
			content = order.AppendUint32(content, uint32(padded))
			content = append(content, arg...)
			content = append(content, make([]byte, padded-len(arg))...)
		}
		if got := perfdata.Cmdline(order, content); !slices.Equal(got, want) {
			t.Errorf("for %v: got %q; want one equal to %+v", order, got, want)
		}
		for n := range content {
			got := perfdata.Cmdline(order, content[:n])
			if len(got) >= len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("for %v, %d bytes: got %q; want the beginning of %q", order, n, got, want)
			}
		}
	}
	many := binary.LittleEndian.AppendUint32(nil, 1<<32-1)
	if got := perfdata.Cmdline(binary.LittleEndian, binary.LittleEndian.AppendUint32(many, 1<<32-1)); len(got) != 0 {
		t.Errorf("got %q; want none", got)
	}
}

// A feature that is one string, in both byte orders, and cut anywhere.
func TestTextFeature_CutAnywhere(t *testing.T) {
	for _, order := range []interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}{binary.LittleEndian, binary.BigEndian} {
		content := append(order.AppendUint32(nil, 16), "aarch64\x00........"...)
		if got := perfdata.Text(order, content); got != "aarch64" {
			t.Errorf(`for %v: got %q; want "aarch64"`, order, got)
		}
		for n := range content {
			if got := perfdata.Text(order, content[:n]); got != "" {
				t.Errorf("for %v, %d bytes: got %q; want none", order, n, got)
			}
		}
	}
}

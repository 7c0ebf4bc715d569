package fetch

import (
	"bytes"
	"io"
	"testing"
)

// Of a long log, the end is kept: it says how the query ended.
func TestTail_KeepsTheEnd(t *testing.T) {
	var log tail
	for range 100 {
		if _, err := io.Copy(&log, bytes.NewReader(bytes.Repeat([]byte("header\n"), 10_000))); err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(&log, "Server query failed")
	if !bytes.HasSuffix(log, []byte("header\nServer query failed")) {
		t.Errorf("got a log that ends with %q", log[max(0, len(log)-40):])
	}
	if len(log) < maxTail || cap(log) > 4*maxTail {
		t.Errorf("got %d bytes in %d; want at least %d, and not much more", len(log), cap(log), maxTail)
	}
}

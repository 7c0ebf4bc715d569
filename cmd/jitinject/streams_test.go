package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Standard input that cannot be looked at is not taken for one without a recording.
func TestStreams_FailingCall(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	io.WriteString(w, magic)
	if is, err := isRecording(r, io.Discard); !is || err != nil {
		t.Errorf("got %v, %v; want a recording", is, err)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	is, err := isRecording(r, io.Discard)
	var o options
	failed := o.streams(newFlags(&o), r, nil, io.Discard)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if is || !errors.Is(err, unix.EMFILE) {
		t.Errorf("got %v, %v; want %v", is, err, unix.EMFILE)
	}
	if failed == nil || !strings.Contains(failed.Error(), "name the recording with -i") {
		t.Errorf("got %v; want an error that says to name the recording", failed)
	}
}

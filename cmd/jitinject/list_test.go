package main

import "testing"

// An empty list is a list: record --runtime= sets no runtime's variables.
func TestCommaVar_Empty(t *testing.T) {
	var o recordOptions
	fs := newRecordFlags(&o)
	if err := fs.Parse([]string{"--runtime="}); err != nil || o.runtimes == nil || len(o.runtimes) > 0 {
		t.Errorf("got %#v, %v; want an empty list", o.runtimes, err)
	}
	if err := fs.Parse([]string{"--runtime=node,php", "--runtime", "java"}); err != nil || len(o.runtimes) != 3 {
		t.Errorf("got %q, %v; want three", o.runtimes, err)
	}
}

package record

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestFailure_Endings(t *testing.T) {
	node := []string{"/usr/bin/node", "nosuch.js"}
	for _, c := range []struct {
		ending  Ending
		command []string
		want    string
	}{
		{Ending{Code: 1, Recorded: true}, node, "node ended with exit code 1"},
		{Ending{Recorded: true}, node, ""},
		{Ending{Code: 130, Signal: unix.SIGINT}, node, ""},
		{Ending{Code: 143, Ended: true}, node, ""}, // after -d
		{Ending{Code: 1}, nil, ""},                 // perf record -p
	} {
		if got := c.ending.Failure(c.command); got != c.want {
			t.Errorf("got %q for %+v; want %q", got, c.ending, c.want)
		}
	}
}

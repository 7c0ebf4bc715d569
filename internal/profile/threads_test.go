package profile

import "testing"

func TestThreadNames_AtTheEnd(t *testing.T) {
	var n threadNames
	main, worker, child := threadID{1, 1}, threadID{1, 2}, threadID{3, 3}
	n.name(main, 30, "renamed")
	n.name(main, 10, "program\nwith a line") // its buffer was read later
	n.fork(worker, main, 20)
	n.fork(child, worker, 40)
	n.name(child, 50, "child")
	n.fork(threadID{9, 9}, threadID{9, 9}, 1)
	for _, c := range []struct {
		id   threadID
		time uint64
		want string
	}{{main, 100, "renamed"}, {main, 20, "program\nwith a line"}, {worker, 100, "program\nwith a line"}, {child, 45, "program\nwith a line"}, {child, 100, "child"}, {threadID{9, 9}, 9, ""}, {threadID{8, 8}, 9, ""}} {
		if got := n.at(c.id, c.time); got != c.want {
			t.Errorf("thread %d/%d at %d: got %q; want %q", c.id.pid, c.id.tid, c.time, got, c.want)
		}
	}
}

package profile

// threadNames are the names that threads had. perf script prints names, too, but a name may contain a
// newline or look like the rest of the line.
type threadNames struct {
	named map[threadID][]threadName
	forks map[threadID]threadFork
}

// A threadName is a name since a time. Its record may come late: each processor has a buffer.
type threadName struct {
	time uint64
	name string
}

// A threadFork says from which thread another one comes. It has that one's name until it has its own.
type threadFork struct {
	parent threadID
	time   uint64
}

func (n *threadNames) name(id threadID, time uint64, name string) {
	if n.named == nil {
		n.named = make(map[threadID][]threadName)
	}
	n.named[id] = append(n.named[id], threadName{time, name})
}

func (n *threadNames) fork(id, parent threadID, time uint64) {
	if n.forks == nil {
		n.forks = make(map[threadID]threadFork)
	}
	if f, ok := n.forks[id]; !ok || f.time <= time {
		n.forks[id] = threadFork{parent, time}
	}
}

// maxAncestors bounds walks from child to parent: ids are used again, so they may go in circles.
const maxAncestors = 64

// at returns the name that a thread had at a time, or "".
func (n *threadNames) at(id threadID, time uint64) string {
	for range maxAncestors {
		found := threadName{}
		ok := false
		for _, c := range n.named[id] {
			if c.time <= time && (!ok || c.time >= found.time) {
				found, ok = c, true
			}
		}
		fork, forked := n.forks[id]
		if ok || !forked || fork.parent == id {
			return found.name
		}
		id, time = fork.parent, min(time, fork.time)
	}
	return ""
}

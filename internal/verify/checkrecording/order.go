package checkrecording

// rounds knows what readers of a recording have been told that they may use.
//
// At the end of a round, perf hands out what is no later than the latest record before
// the round in front of it ended [perf, ordered_events__flush].
type rounds struct {
	off      bool
	latest   uint64 // of all so far
	previous uint64 // latest at the end of the last round
	handed   uint64 // up to this time, records have been handed out
}

func (r *rounds) finished() {
	r.handed = max(r.handed, r.previous)
	r.previous = r.latest
}

// record returns by how much a record comes too late, or 0.
func (r *rounds) record(time uint64) uint64 {
	r.latest = max(r.latest, time)
	if r.off || time >= r.handed {
		return 0
	}
	return r.handed - time
}

package xray

// findCopies finds traces that were named twice, or copied. They need no owner of their own.
// Of traces with the same number of buffers, and the same first and last one, the first trace is the only candidate.
func (s *sharing) findCopies() error {
	type candidate struct {
		n           int
		first, last bufferKey
	}
	known := make(map[candidate]*Log)
	for _, x := range s.traces {
		key := candidate{len(x.pieces), x.pieces[0].key(), x.pieces[len(x.pieces)-1].key()}
		first := known[key]
		if first == nil {
			known[key] = x
		} else if same, err := sameXRay(first, x); err != nil {
			return err
		} else if same {
			s.copyOf[x] = first
		}
	}
	return nil
}

// sameXRay reports whether the buffers of two traces, equal in number, are the same.
func sameXRay(x, y *Log) (bool, error) {
	for i := range x.pieces {
		p, q := &x.pieces[i], &y.pieces[i]
		if p.key() != q.key() || p.whole != q.whole {
			return false, nil
		}
		if end, err := commonEnd(p, q); err != nil || end < p.end() {
			return false, err
		}
	}
	return true, nil
}

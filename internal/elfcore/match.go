package elfcore

// MatchThreads finds the threads of which a program knows the values of pthread_self(),
// and returns their numbers. On x86 and s390 that is what the thread pointer holds. On
// other machines it is at one distance from that for all threads, which depends on the C
// library: the distance is looked for that most of the threads have, and at least two. With
// more than one such distance, or with threads that share a pointer, nothing is found.
func (c *Core) MatchThreads(ids []uint64) map[uint64]int {
	byPointer := make(map[uint64]int)
	for _, t := range c.threads {
		if t.ThreadPointer != 0 {
			byPointer[t.ThreadPointer] = t.TID
		}
	}
	wanted := make(map[uint64]bool)
	for _, id := range ids {
		if id != 0 {
			wanted[id] = true
		}
	}
	if n := matched(byPointer, wanted, 0); n > 0 {
		return match(byPointer, wanted, 0)
	}
	best, most, ties := uint64(0), 1, 0
	tried := make(map[uint64]bool)
	if len(byPointer) > maxPairs/max(len(wanted), 1) {
		return nil
	}
	for pointer := range byPointer {
		for id := range wanted {
			distance := pointer - id
			if len(tried) > maxDistances {
				return nil
			}
			if tried[distance] || distance+maxDistance > 2*maxDistance {
				continue
			}
			tried[distance] = true
			switch n := matched(byPointer, wanted, distance); {
			case n > most:
				best, most, ties = distance, n, 0
			case n == most:
				ties++
			}
		}
	}
	if most < 2 || ties > 0 {
		return nil
	}
	return match(byPointer, wanted, best)
}

const (
	// maxDistance is how far pthread_self() may be from the thread pointer, in bytes:
	// glibc's record of a thread has about 2 KiB, and on PowerPC there are 28 KiB more.
	maxDistance = 64 << 10

	// maxPairs bounds how many threads and ids are compared with each other.
	maxPairs = 1 << 24

	// maxDistances bounds how many are tried.
	maxDistances = 1000
)

// matched counts the ids that are threads, at a distance.
func matched(byPointer map[uint64]int, ids map[uint64]bool, distance uint64) (n int) {
	for id := range ids {
		if _, ok := byPointer[id+distance]; ok {
			n++
		}
	}
	return n
}

func match(byPointer map[uint64]int, ids map[uint64]bool, distance uint64) map[uint64]int {
	found := make(map[uint64]int)
	for id := range ids {
		if tid, ok := byPointer[id+distance]; ok {
			found[id] = tid
		}
	}
	return found
}

package v8

// identities are the functions at the addresses of SharedFunctionInfos, at the time of the line
// that was read last.
type identities struct{ at map[uint64]int32 }

func newIdentities() identities { return identities{make(map[uint64]int32)} }

// find returns the function at an address.
func (m *identities) find(sfi uint64) (fn int32, ok bool) {
	fn, ok = m.at[sfi]
	return fn, ok
}

// set puts a function at an address. Another one that was there is gone: the collector freed it.
func (m *identities) set(sfi uint64, fn int32) { m.at[sfi] = fn }

// move moves a function. Functions without code were never logged.
func (m *identities) move(from, to uint64) {
	fn, ok := m.at[from]
	if !ok {
		delete(m.at, to)
		return
	}
	delete(m.at, from)
	m.at[to] = fn
}

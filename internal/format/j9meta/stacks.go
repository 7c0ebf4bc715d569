package j9meta

// A Frame is a method that was running: the compiled one, or one that was inlined.
type Frame struct {
	Site          int    // index of the inlined site, -1: the compiled method itself
	Method        uint64 // J9Method; of the compiled method Header.RAMMethod
	ByteCodeIndex int    // in Method
	Unloaded      bool   // Method means nothing, see Layout.Unloaded
}

// Stack appends to dst the frames of a bytecode, the innermost first, and returns
// it. The last frame is of Site -1, unless callers lead to a site that is not
// there or in a circle: then what is known so far is all.
func (b *Body) Stack(dst []Frame, info ByteCodeInfo) []Frame {
	first := len(dst)
	for n := 0; ; n++ {
		site := info.CallerIndex
		if site < 0 {
			return append(dst, Frame{Site: -1, Method: b.Header.RAMMethod, ByteCodeIndex: info.ByteCodeIndex})
		}
		if site >= len(b.Sites) {
			return dst
		}
		if n == len(b.Sites) {
			return beforeCircle(dst, first)
		}
		s := &b.Sites[site]
		dst = append(dst, Frame{Site: site, Method: s.Method, ByteCodeIndex: info.ByteCodeIndex, Unloaded: b.Layout.Unloaded(s.Method)})
		info = s.Info
	}
}

// beforeCircle cuts frames at the first site that comes again.
func beforeCircle(frames []Frame, first int) []Frame {
	seen := make(map[int]bool)
	for i := first; i < len(frames); i++ {
		if seen[frames[i].Site] {
			return frames[:i]
		}
		seen[frames[i].Site] = true
	}
	return frames
}

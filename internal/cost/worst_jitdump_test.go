package cost

// Dumps of jitted code.
var worstDumps = []worst{
	{"jitdump", "moves", func(s *scene, size int) {
		s.process()
		s.function(0)
		for i := range size / 72 {
			s.move(0, place(i%2), place(1-i%2))
		}
		s.samples(10)
	}, nil},
}

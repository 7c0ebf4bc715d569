package addrs

type Range = Span[uint64]

// A Number counts addresses from anywhere.
type Number interface{ uint16 | uint64 }

// A Span is a Range of numbers that may be small.
type Span[N Number] struct{ Lo, Hi N }

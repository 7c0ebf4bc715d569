package source

// A Comparer is a Dump that can find repeated functions.
type Comparer interface {
	// Same returns a function that reports whether two functions have the same name, code, lines,
	// inlined calls and unwind tables. Only one goroutine may use it.
	Same() func(i, j int) bool
}

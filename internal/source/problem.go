package source

// A Problem is a fault in a side file that cost information.
type Problem struct {
	Offset int64  // in the side file, in bytes
	Text   string // a sentence that includes the offset
}

// MaxProblems bounds how many problems of one file are kept. Further problems are only counted.
const MaxProblems = 50

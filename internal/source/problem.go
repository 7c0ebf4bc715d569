package source

// A Problem is something in a side file that cost information.
type Problem struct {
	Offset int64  // in the side file
	Text   string // a sentence that says the offset, too
}

// MaxProblems bounds how many problems of one file are kept; the rest is only
// counted.
const MaxProblems = 50

package mono

// LimitMonoFunctions sets how many functions a log can have, and returns how many it was.
func LimitMonoFunctions(n int) int {
	was := maxMonoFunctions
	maxMonoFunctions = n
	return was
}

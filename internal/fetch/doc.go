// Package fetch gets the objects of a result from debuginfod servers, so that perf shows the result
// on a machine without these objects. It puts them into perf's build-id cache, or at the paths that
// the result names.
//
//	objects.go  the objects that a result refers to
//	hits.go     those that its samples refer to
//	check.go    whether a file is the object
//	target.go   where the objects are put: the cache, or their paths
//	find.go     files from the servers, by debuginfod-find
//	fetch.go    the step: what is missing, and how it is got
package fetch

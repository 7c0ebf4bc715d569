// Package build makes the objects of a plan, on all CPUs. The files are the same for any
// number of workers.
package build

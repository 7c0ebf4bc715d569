// Package build makes the objects of a plan, on all CPUs. The files do not depend on the number of
// workers.
package build

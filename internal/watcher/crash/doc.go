// Package crash says in a sentence why Go's runtime, or the kernel, has ended a process.
package crash

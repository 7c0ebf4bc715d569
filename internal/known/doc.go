// Package known lists the runtimes that jitinject knows. It has the files by which a process is
// recognized as one, and the options that make it write a dump.
package known

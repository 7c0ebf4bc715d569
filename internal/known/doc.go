// Package known lists the runtimes that jitinject knows: by which files a process is
// recognized as one, and which options make it write a dump.
package known

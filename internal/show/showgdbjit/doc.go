// Package showgdbjit shows the ELF objects that a process registered for debuggers, in a core dump of
// it: descriptors, entries of their lists, and the functions of their objects.
package showgdbjit

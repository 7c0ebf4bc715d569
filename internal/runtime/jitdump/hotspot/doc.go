// Package hotspot knows the code of OpenJDK's virtual machine that runs in frames which it does not
// show: the interpreter, code that is entered by a jump, and the return barrier of virtual threads.
// Its facts are those of OpenJDK's source, versions 17 to 27, x86-64.
package hotspot

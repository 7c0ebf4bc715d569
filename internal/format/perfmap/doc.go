// Package perfmap reads perf maps: text files, usually /tmp/perf-PID.map, that name the code which
// a JIT compiler made. Each line is one function:
//
//	START SIZE NAME
//
//	START  address of its first byte, in hexadecimal; some runtimes write 0x before it
//	SIZE   of its code in bytes, in hexadecimal, with or without 0x
//	NAME   the rest of the line, any bytes but a newline
//
// A space or tab separates the fields. The file has no header, no times, no process and no code.
// Runtimes append lines while they run, and may use an address again. The JDK writes the whole file
// at once. So a line describes its addresses at an unknown time, and replaces earlier lines about
// them.
//
// The format is that of the file tools/perf/Documentation/jit-interface.txt of Linux. Real maps are
// in testdata.
package perfmap

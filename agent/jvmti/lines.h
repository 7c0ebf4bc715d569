// A method's table of source lines.
#ifndef JITINJECT_LINES_H
#define JITINJECT_LINES_H

#include <stddef.h>
#include <stdint.h>

struct line {
	int64_t bci; // the first byte code of the line
	uint32_t line;
};

// lines_sort puts a table into the order of its byte codes, which neither the
// class file nor JVMTI promises.
void lines_sort(struct line *lines, size_t count);

// line_at returns the line of a byte code, the first line for the entry of a
// method (HotSpot's byte code index -1), and 0 where there is none.
uint32_t line_at(const struct line *lines, size_t count, int64_t bci);

#endif

#include "lines.h"

#include <stdlib.h>

static int by_bci(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	return (x->bci > y->bci) - (x->bci < y->bci);
}

void lines_sort(struct line *lines, size_t count)
{
	size_t i = 1;
	while (i < count && lines[i - 1].bci <= lines[i].bci)
		i++;
	if (i < count) // which javac does not do
		qsort(lines, count, sizeof *lines, by_bci);
}

uint32_t line_at(const struct line *lines, size_t count, int64_t bci)
{
	if (count == 0)
		return 0;
	if (bci < 0)
		return lines[0].line;
	size_t low = 0, high = count; // lines[:low] begin at bci or before
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (lines[mid].bci <= bci)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? lines[low - 1].line : 0;
}

// Functions that inlines.cc inlines from another file.
template <typename T> inline __attribute__((always_inline)) T clamp(T v, T low, T high) {
	if (v < low)
		return low;
	return v > high ? high : v;
}
#include "inlines.inc"

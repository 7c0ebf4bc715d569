// A program with nested inlined functions, lexical blocks, code at several places, and functions
// that are called through a pointer only.
#include "inlines.h"

volatile int sink[16];
extern "C" void fail(int);

namespace shapes {
struct Shape {
	int w, h;
	inline __attribute__((always_inline)) int area() const {
		int a = w * h;
		for (int i = 0; i < 3; i++) {
			int step = sink[i];
			if (step > 5) {
				int far = mix(a, step);
				sink[i + 1] = far;
				a += clamp(far, 0, 7);
			}
		}
		return a;
	}
	int scaled(int by) const;
};
__attribute__((noinline)) int Shape::scaled(int by) const {
	Shape s = {w * by, h * by};
	return s.area() - area();
}
} // namespace shapes

static inline __attribute__((always_inline)) int checked(int n) {
	if (__builtin_expect(n < 0, 0)) {
		sink[9] = mix(n, 1);
		fail(n);
	}
	return mix(n, 2);
}

static __attribute__((noinline)) int local(int n) {
#include "body.inc"
}

extern "C" __attribute__((noinline)) int outer(int n) {
	shapes::Shape s = {n, n + 1};
	int sum = s.scaled(local(n));
	switch (n & 3) {
	case 0:
		sum += checked(sum); sum += mix(sum, n);
		break;
	case 1:
		sum = shapes::Shape{sum, n}.area();
		break;
	default:
		sum -= clamp(n, 0, sum);
	}
	return sum;
}

extern "C" __attribute__((noinline)) void fail(int n) { sink[8] = n; }

int main() {
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += outer(i);
	for (;;)
		sink[0] = sum;
}

static inline __attribute__((always_inline)) int square(int x) { return x * x + 1; }
int first(int n) {
	int s = 0;
	for (int i = 0; i < n; i++)
		s += square(i) % 7;
	return s;
}
volatile int z;
int second(int n) {
	z = n;
	return square(z) + first(square(n));
}

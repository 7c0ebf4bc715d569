// Functions whose frames compilers make in many shapes.
typedef unsigned long word;
word callee(word, word);
word many(word, word, word, word, word, word, word, word, word, word, word);
void use(void *);
_Noreturn void stop(void);

word leaf(word a, word b) { return a * b + 1; }
word tail(word a, word b) { return callee(b, a); }
word call(word a, word b) { return callee(a, b) + callee(b, a) * a; }

word array(word n) {
	word a[40];
	use(a);
	return a[n % 40];
}

word big(word n) {
	char a[70000];
	use(a);
	return (word)a[n % 70000];
}

word dynamic(word n) {
	char a[n];
	use(a);
	return callee(n, (word)a[0]) + n;
}

word aligned(word n) {
	_Alignas(64) word a[16];
	use(a);
	return a[n % 16] + n;
}

word stacked(word n) { return many(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, n) + many(9, 8, 7, 6, 5, 4, 3, 2, 1, n, n) + n; }

word exits(word a, word b) {
	if (a < b) return a;
	word c = callee(a, b);
	if (c == 1) return b;
	for (word i = 0; i < c; i++) {
		if (callee(i, c) == b) return callee(b, b);
		a += i * b;
	}
	return a ^ c;
}

word table(word a, word b) {
	switch (a) {
	case 0: return callee(1, b) + 1;
	case 1: return callee(b, 2) * 2;
	case 2: return b + callee(3, 3);
	case 3: return callee(b, b) - 4;
	case 4: return callee(a, 7) ^ 5;
	case 5: b = callee(b, 6); break;
	case 6: stop();
	}
	return b + a;
}

word stops(word a, word b) {
	if (a == b) stop();
	word c = callee(a, b);
	if (c == b) stop();
	return c + a;
}

double floats(double a, double b, word n) {
	for (word i = 0; i < n; i++) a = a * b + (double)callee(i, n);
	return a + b;
}

word registers(word a, word b, word c, word d, word e, word f) {
	word g = callee(a, b), h = callee(c, d), i = callee(e, f), j = callee(g, h);
	word k = callee(i, j), l = callee(a, k), m = callee(b, l);
	return a + b * c + d * e + f * g + h * i + j * k + l * m;
}

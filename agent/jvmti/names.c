#include "names.h"

#include "../../producer/jitdump.h"

#include <string.h>

// surrogate returns what the three bytes at s say if they are a surrogate
// between low and low+0x3ff, else 0.
static unsigned surrogate(const unsigned char *s, const unsigned char *end, unsigned low)
{
	if (end - s < 3 || s[0] != 0xed || (s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80)
		return 0;
	unsigned c = 0xd000 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f);
	return c >= low && c <= low + 0x3ff ? c : 0;
}

// add_utf8 appends n bytes of modified UTF-8 as UTF-8: there, a character beyond
// the first 65536 is two surrogates of three bytes each, and NUL is C0 80.
// Half a pair and a NUL, which names of a dump cannot hold, become U+FFFD. From
// '/' to '.' is what makes a class's name of its signature.
static void add_utf8(struct jitdump_bytes *b, const char *text, size_t n, bool dots)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + n;
	while (s < end) {
		unsigned high = surrogate(s, end, 0xd800);
		unsigned low = high ? surrogate(s + 3, end, 0xdc00) : 0;
		if (low) {
			unsigned c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
			unsigned char utf8[4] = {0xf0 | c >> 18, 0x80 | (c >> 12 & 0x3f), 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f)};
			jitdump_bytes_add(b, utf8, sizeof utf8);
			s += 6;
		} else if (high || surrogate(s, end, 0xdc00)) {
			jitdump_bytes_add(b, "\xef\xbf\xbd", 3);
			s += 3;
		} else if (end - s >= 2 && s[0] == 0xc0 && s[1] == 0x80) {
			jitdump_bytes_add(b, "\xef\xbf\xbd", 3);
			s += 2;
		} else {
			jitdump_bytes_add(b, dots && *s == '/' ? "." : (const char *)s, 1);
			s++;
		}
	}
}

// bare strips L and ; of a signature. Classes of methods are no arrays.
static const char *bare(const char *klass, size_t *len)
{
	size_t n = strlen(klass);
	if (n >= 2 && klass[0] == 'L' && klass[n - 1] == ';') {
		klass++;
		n -= 2;
	}
	*len = n;
	return klass;
}

void name_method(struct jitdump_bytes *b, const char *klass, const char *method, const char *descriptor)
{
	size_t n;
	klass = bare(klass, &n);
	add_utf8(b, klass, n, true);
	jitdump_bytes_add(b, ".", 1);
	add_utf8(b, method, strlen(method), false);
	if (descriptor)
		add_utf8(b, descriptor, strlen(descriptor), false);
	jitdump_bytes_add(b, "", 1);
}

void name_parts(struct jitdump_bytes *b, const char *klass, const char *method, const char *descriptor)
{
	size_t n;
	klass = bare(klass, &n);
	add_utf8(b, klass, n, false);
	jitdump_bytes_add(b, "", 1);
	add_utf8(b, method, strlen(method), false);
	jitdump_bytes_add(b, "", 1);
	add_utf8(b, descriptor, strlen(descriptor), false);
	jitdump_bytes_add(b, "", 1);
}

void name_file(struct jitdump_bytes *b, const char *klass, const char *source)
{
	size_t n;
	klass = bare(klass, &n);
	if (!source || !*source) {
		add_utf8(b, klass, n, false);
		jitdump_bytes_add(b, ".class", sizeof ".class");
		return;
	}
	size_t package = n;
	while (package > 0 && klass[package - 1] != '/')
		package--;
	// Some compilers write a path there, which has its directories already.
	if (source[0] != '/')
		add_utf8(b, klass, package, false);
	add_utf8(b, source, strlen(source), false);
	jitdump_bytes_add(b, "", 1);
}

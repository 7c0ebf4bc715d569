#include "options.h"

#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_dir(struct options *o, const char *dir, size_t n)
{
	if (n == 0 || n >= sizeof o->dir) {
		say("dir= needs the path of a directory");
		return false;
	}
	memcpy(o->dir, dir, n);
	o->dir[n] = 0;
	return true;
}

static bool set(struct options *o, const char *text, size_t n)
{
	const char *equals = memchr(text, '=', n);
	size_t name = equals ? (size_t)(equals - text) : n;
	const char *value = equals ? equals + 1 : text + n;
	size_t len = text + n - value;
	if (equals && name == 3 && !memcmp(text, "dir", 3))
		return set_dir(o, value, len);
	if (equals && name == 5 && !memcmp(text, "names", 5)) {
		o->short_names = len == 5 && !memcmp(value, "short", 5);
		if (o->short_names || (len == 4 && !memcmp(value, "full", 4)))
			return true;
		say("names=%.*s: names are full or short", (int)len, value);
		return false;
	}
	say("unknown option %.*s; the options are dir=DIRECTORY and names=full|short", (int)n, text);
	return false;
}

bool options_parse(struct options *o, const char *text)
{
	memset(o, 0, sizeof *o);
	// The variable is the one that other producers of jitdump look at; without
	// it the dump lies where the user is, as node's does.
	const char *env = getenv("JITDUMPDIR");
	if (!env || !*env)
		env = ".";
	if (!set_dir(o, env, strlen(env)))
		return false;
	if (!text)
		return true;
	// HotSpot's jcmd takes quotes off, OpenJ9's leaves them.
	const char *end = text + strlen(text);
	if (end - text >= 2 && *text == '"' && end[-1] == '"')
		text++, end--;
	while (text < end) {
		const char *comma = memchr(text, ',', end - text);
		size_t n = (comma ? comma : end) - text;
		if (n && !set(o, text, n))
			return false;
		text += n + (comma != NULL);
	}
	return true;
}

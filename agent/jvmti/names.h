// How classes, methods and their files are called in the dump.
#ifndef JITINJECT_NAMES_H
#define JITINJECT_NAMES_H

#include <stdbool.h>

struct jitdump_bytes;

// name_method appends pkg.Class.method(descriptor)ret and a NUL, without the
// descriptor if it is NULL. klass is a class's signature, as JVMTI gives it:
// Lpkg/Class;. All three are in the VM's modified UTF-8, the result is in UTF-8.
void name_method(struct jitdump_bytes *b, const char *klass, const char *method, const char *descriptor);

// name_parts appends the class (pkg/Class), the method and the descriptor, each
// with its NUL.
void name_parts(struct jitdump_bytes *b, const char *klass, const char *method, const char *descriptor);

// name_file appends the path of a class's source file and a NUL: the package's
// directories and the SourceFile attribute. A class without one, source NULL,
// was made by a tool that did not want lines to be looked up anywhere; its file
// is the class file, pkg/Class.class.
void name_file(struct jitdump_bytes *b, const char *klass, const char *source);

#endif

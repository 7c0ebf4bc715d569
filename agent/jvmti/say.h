// What the agent says on stderr.
#ifndef JITINJECT_SAY_H
#define JITINJECT_SAY_H

// say prints one line, led by the agent's name. It leaves errno alone.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

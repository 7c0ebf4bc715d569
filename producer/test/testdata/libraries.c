// Two libraries with jitdump.h in a process. The second one is told that the process has a dump.
int one(const char *dir), two(const char *dir);

int main(int argc, char **argv) { return argc != 2 || one(argv[1]) || two(argv[1]) != 16; }

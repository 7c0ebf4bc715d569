// The same compiler in C++, for code without frame pointers: it sends unwind rows, so that
// perf record --call-graph dwarf shows whole stacks. The text of its program is in the dump.
//
//	c++ -std=c++11 -I.. -pthread -o cube-cc cube.cc
//	perf record -k mono --call-graph dwarf ./cube-cc && jitinject && perf report -i perf.jit.data
#define JITDUMP_IMPLEMENTATION
#include "jitdump.h"

#include <string>

static const char program[] =
	"cube(x) = x * x * x\n"
	"\n"
	"sum(n) =\n"
	"  s = 0\n"
	"  repeat n: s = s + cube(n)\n"
	"  s\n";

// Code is emitted into memory with its lines.
class Compiler {
public:
	explicit Compiler(uint8_t *to) : memory(to), debug(jitdump_debug_new()), file(jitdump_debug_file(debug, "cube.toy")) {}
	~Compiler() { jitdump_debug_free(debug); }

	void emit(uint32_t line, const std::string &bytes)
	{
		jitdump_debug_line(debug, size, file, line, JITDUMP_NO_COLUMN);
		memcpy(memory + size, bytes.data(), bytes.size());
		size += static_cast<uint32_t>(bytes.size());
	}

	uint32_t function(const char *name, uint32_t line) { return jitdump_debug_function(debug, name, file, line, JITDUMP_NO_COLUMN, JITDUMP_USER); }

	uint8_t *memory;
	jitdump_debug *debug;
	uint32_t file, size = 0;
};

int main()
{
	jitdump_options options{};
	options.report = [](void *, const char *message) { fprintf(stderr, "cube: %s\n", message); };
	jitdump_open(&options);
	jitdump_source("cube.toy", program, sizeof program - 1);
	jitdump_tier(1, JITDUMP_GREEN, "Baseline");

	auto memory = static_cast<uint8_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	Compiler c(memory);
	jitdump_debug_function(c.debug, "sum", c.file, 3, JITDUMP_NO_COLUMN, JITDUMP_USER | JITDUMP_IN_TIER(1));
	const uint32_t cube = c.function("cube", 1);
	c.emit(4, "\x53"); // push rbx
	const uint32_t pushed = c.size;
	c.emit(4, std::string("\x48\x89\xfb\x31\xc0", 5)); // mov rbx, rdi; xor eax, eax
	const uint32_t loop = c.size;
	jitdump_debug_push(c.debug, c.size, cube, 5, JITDUMP_NO_COLUMN, 1);
	c.emit(1, "\x48\x89\xda\x48\x0f\xaf\xd3\x48\x0f\xaf\xd3"); // mov rdx, rbx; imul rdx, rbx; imul rdx, rbx
	jitdump_debug_pop(c.debug, c.size);
	c.emit(5, std::string("\x48\x01\xd0\x48\xff\xcb\x75") + static_cast<char>(loop - c.size - 8)); // add rax, rdx; dec rbx; jnz
	c.emit(6, "\x5b"); // pop rbx
	const uint32_t popped = c.size;
	c.emit(6, "\xc3"); // ret
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);

	// Registers have their DWARF numbers: rbx is 3, rsp is 7.
	const jitdump_saved rbx = {3, -16};
	const jitdump_row rows[] = {{0, 7, 8, 0, nullptr}, {pushed, 7, 16, 1, &rbx}, {popped, 7, 8, 0, nullptr}};
	jitdump_unwind unwind{};
	unwind.rows = rows, unwind.row_count = 3;
	jitdump_code code{};
	code.name = "sum", code.address = memory, code.size = c.size, code.debug = c.debug, code.unwind = &unwind;
	jitdump_code_load(&code);

	long (*sum)(long), result = 0;
	memcpy(&sum, &memory, sizeof sum);
	for (time_t end = time(nullptr) + 2; time(nullptr) < end;)
		result += sum(1000000);
	printf("%ld\n", result);
	jitdump_close();
}

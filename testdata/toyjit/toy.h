// What the parts of the toy JIT share: the program as parsed (lex.c, parse.c), the
// code made of it (lower.c, frame.c, x86.c), and what is told about it (jitdump.c,
// truth.c).
#ifndef TOY_H
#define TOY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_FILES = 8, MAX_FUNCTIONS = 64, MAX_VARS = 16, MAX_ARGS = 6, MAX_INSNS = 4096, MAX_SITES = 128, MAX_LABELS = 512 };

// A place in a source. Lines count from 1, columns from 0, both as the record
// DEBUG_INFO2 has them.
struct pos {
	int file, line, column;
};

struct source {
	const char *name;
	char *text;
	size_t size;
};

enum token { T_END, T_NAME, T_NUMBER, T_OP };

struct lexer {
	const struct source *source;
	const char *at, *line_start;
	struct pos pos; // of the token
	enum token token;
	char text[32];
	long number;
};

// How a function keeps its variables, which is what its prologue and epilogues do.
enum shape {
	SHAPE_FP,    // push rbp; mov rbp,rsp; sub rsp,N ... leave; ret
	SHAPE_ENTER, // enter N,0 ... leave; ret
	SHAPE_SUB,   // sub rsp,N ... add rsp,N; ret
	SHAPE_PUSH,  // push rbx, r12, r13; sub rsp,N ... add rsp,N; pops; ret
	SHAPE_ALIGN, // push rbp; mov rbp,rsp; push rbx; sub rsp,N; and rsp,-32 ... mov rbx,[rbp-8]; leave; ret
	SHAPE_LEAF,  // nothing at all: variables are in the red zone
};

struct frame {
	enum shape shape;
	bool exits;  // every return has an epilogue of its own, also in the middle
	bool pushes; // temporary values are pushed, so that rsp moves in the body
};

struct var {
	char name[32];
	bool assigned; // after its declaration
};

struct function;

struct expr {
	enum { E_NUMBER, E_VAR, E_BINARY, E_CALL } kind;
	struct pos pos; // of the operator, for a binary one
	long number;
	int var;
	char op[32]; // or the name of what is called
	struct function *callee;
	int nargs;
	struct expr *args[MAX_ARGS]; // or the two operands
};

struct stmt {
	enum { S_LET, S_ASSIGN, S_WHILE, S_IF, S_RETURN, S_EXPR } kind;
	struct pos pos;
	int var;
	bool unlikely; // the first block of an if moves out of the way
	struct expr *expr;
	struct stmt *body, *other;
	struct stmt *next;
};

struct function {
	char name[32];
	struct pos pos, end; // of its first token, of its closing brace
	bool inlined;        // wherever that is possible
	struct frame frame;
	int nparams, nvars;
	struct var vars[MAX_VARS];
	struct stmt *body;
	uint8_t *address; // of its code, once that is laid out
	uint32_t size;
};

struct program {
	struct source files[MAX_FILES];
	int nfiles;
	struct function functions[MAX_FUNCTIONS];
	int nfunctions;
};

// A call that was inlined, or the outer function, whose parent is 0.
struct site {
	struct site *parent;
	const struct function *function;
	struct pos call;
	int depth; // of an inlined call, from 0
	int begin, end; // labels
	struct binding {
		const struct expr *lazy; // an argument that is computed where it is used, by
		struct site *from;       // this caller
		int slot;
	} vars[MAX_VARS];
};

enum section { PROLOGUE, HOT, COLD, SECTIONS };

struct insn {
	uint8_t bytes[15], length;
	enum { FIX_NONE, FIX_LABEL, FIX_CALL, FIX_FRAME32, FIX_FRAME16 } fix; // of the last bytes, or of enter's
	int label;
	const struct function *callee;
	const struct site *site;
	struct pos pos;
	uint32_t offset; // in the function
};

// The code of one function while it is made.
struct code {
	const struct program *program;
	const struct function *function;
	struct frame frame;
	bool inlining;
	struct insn insns[SECTIONS][MAX_INSNS];
	int n[SECTIONS];
	struct site sites[MAX_SITES];
	int nsites;
	struct label {
		enum section section;
		int at;
	} labels[MAX_LABELS];
	int nlabels, nslots, depth; // depth: what is pushed, in bytes

	// Where emitting is.
	enum section section;
	struct site *site;
	struct pos pos;
	uint32_t size; // of the code
};

_Noreturn void fail(const struct program *, struct pos, const char *format, ...) __attribute__((format(printf, 3, 4)));

void lex_open(struct lexer *, const struct source *, int file);
void lex(const struct program *, struct lexer *);
void parse(struct program *, int file);
void resolve(struct program *);

// lower.c: makes the code of a function, all but its place.
void lower(const struct program *, const struct function *, bool inlining, bool frames, struct code *);
// layout.c: fixes where each instruction is, and puts the code into memory.
void layout(struct code *);
void place(const struct code *, uint8_t *to);
uint32_t label_offset(const struct code *, int label);
struct insn *next_insn(const struct code *, struct insn *); // in the order of memory; the first one after 0

// frame.c
void prologue(struct code *);
void epilogue(struct code *);

// x86.c
enum reg { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R12 = 12, R13 = 13, NO_REG = -1 };
enum alu { ADD = 0x03, OR = 0x0b, AND = 0x23, SUB = 0x2b, XOR = 0x33, CMP = 0x3b, LOAD = 0x8b, STORE = 0x89 };
enum condition { CC_E = 4, CC_NE = 5, CC_L = 12, CC_GE = 13, CC_LE = 14, CC_G = 15 };

struct operand { // a register, or memory
	enum reg reg, base;
	int disp;
};
struct operand slot(const struct code *, int slot);
struct operand in(enum reg);
struct insn *raw(struct code *, const char *bytes, int n);
void alu(struct code *, enum alu, enum reg, struct operand);
void alu_imm(struct code *, enum alu, enum reg, int32_t);
void mul(struct code *, enum reg, struct operand);
void set_imm(struct code *, enum reg, long);
void push(struct code *, enum reg);
void pop(struct code *, enum reg);
void jump(struct code *, int label);
void branch(struct code *, enum condition, int label);
void call(struct code *, const struct function *);
int new_label(struct code *);
void bind(struct code *, int label);

// jitdump.c
uint64_t now(void);
void dump_open(const char *dir, bool lines); // lines: plain DEBUG_INFO records, too
void dump_function(const struct program *, const struct code *, const uint8_t *address, int tier);

// truth.c
void truth_open(const char *dir);
void truth_function(const struct program *, const struct code *);
void truth_close(void);
#endif

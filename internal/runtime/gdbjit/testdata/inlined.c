extern int puts(const char*);
static inline int sq(int x){ return x*x+1; }
__attribute__((noinline)) int first(int n){ int s=0; asm volatile(""); for(int i=0;i<n;i++) s+=sq(i)%7; return s; }
volatile int z; __attribute__((noinline)) int second(int n){ int s=0; z=n; for(int i=0;i<n;i++){ s^=sq(i); s+=first(3);} return s; }
int main(void){ volatile int r=0; volatile int n=3000; for(int i=0;i<300000000;i++) r+=second(n); return 0; }

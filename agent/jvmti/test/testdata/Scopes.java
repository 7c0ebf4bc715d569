package scopes;

/** Methods that are inlined, each storing a constant that no other code has. */
public class Scopes {
    static final int[] A = new int[8], B = new int[8], C = new int[8], D = new int[8];

    static void first(int i) {
        A[i & 7] = 0x10203040;
    }

    static void second(int i) {
        B[i & 7] = 0x51525354;
    }

    static void third(int i) {
        C[i & 7] = 0x61728395;
    }

    static void last(int i) {
        third(i + 1);
        D[i & 7] = 0x22334455;
    }

    static int step(int i, int acc) {
        first(i);
        second(acc);
        last(acc + i);
        return acc + A[acc & 7] + D[i & 7];
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        int acc = 1;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 100_000; i++) {
                acc = step(i, acc);
            }
        }
        System.out.println("done " + (acc != 0));
        if (args.length > 1) { // to be attached to
            while (System.in.read() >= 0) {
            }
        }
    }
}

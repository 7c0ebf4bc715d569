import java.util.*;
public class Hot {
    static int leaf(int x) { return x * 31 + 7; }
    static int mid(int x) { int s = 0; for (int i = 0; i < 16; i++) s += leaf(x + i); return s; }
    static long sum(List<Integer> l) { long s = 0; for (int v : l) s += mid(v); return s; }
    static String text(int n) { StringBuilder b = new StringBuilder(); for (int i = 0; i < n; i++) b.append(i).append(','); return b.toString(); }
    public static void main(String[] a) {
        List<Integer> l = new ArrayList<>(); for (int i = 0; i < 5000; i++) l.add(i);
        Map<String,Integer> m = new HashMap<>();
        long t = System.nanoTime(), s = 0;
        while (System.nanoTime() - t < 5_000_000_000L) { s += sum(l); String x = text(200); m.merge(x.substring((int)(s & 63)), 1, Integer::sum); s += m.size(); }
        System.out.println(s);
    }
}
